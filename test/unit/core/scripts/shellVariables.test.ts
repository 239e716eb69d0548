import { describe, expect, it } from "vitest";
import { checkCommands } from "../../../../src/core/scripts/commandReport";
import { scriptCommands } from "../../../../src/core/scripts/scriptCommands";

const found = (text: string, language = "shellscript"): readonly (readonly [string, boolean])[] =>
  checkCommands(scriptCommands(text, language)?.commands ?? []).map(({ words, isPlain }) => [
    words.join("|"),
    isPlain,
  ]);

describe("variables of a shell script", () => {
  it("are put in as the shell does", () => {
    const script = `MODEL="/m/a b.gguf"
export CTX=8192 PORT=80
OPTS="-ngl 99 -fa on"
BIN=/opt/llama-server
$BIN -m "$MODEL" -c $CTX $OPTS --port \${PORT:-8080} --host \${HOST:-0.0.0.0}`;
    expect(found(script)).toEqual([
      ["/opt/llama-server|-m|/m/a b.gguf|-c|8192|-ngl|99|-fa|on|--port|80|--host|0.0.0.0", true],
    ]);
  });

  it("may be lists, with comments and quotes", () => {
    const script = 'ARGS=(\n  -m "/m/a b.gguf" # the model\n  -c 8192\n)\nllama-server "${ARGS[@]}" -fa on';
    expect(found(script)).toEqual([["llama-server|-m|/m/a b.gguf|-c|8192|-fa|on", true]]);
  });

  it("stay as they are where the script alone does not say what they hold", () => {
    for (const set of [
      "C=1\nC=2",
      "C=$(nproc)",
      "C=`nproc`",
      "C=$UNSET",
      "C=$C",
      "C=1\nC+=2",
      "read C",
      "C=1 true",
    ]) {
      expect(found(`${set}\nllama-server -c $C`)).toEqual([["llama-server|-c|$C", false]]);
    }
    expect(found('A=(-c 1)\nA+=(-c 2)\nllama-server "${A[@]}"')).toEqual([["llama-server|${A[@]}", false]]);
    expect(found("C=8192\nllama-server --alias '$C'")).toEqual([["llama-server|--alias|$C", true]]);
  });

  it("end where they are made of themselves, or would make a short script long", () => {
    const script = Array.from({ length: 60 }, (_, i) => `V${i + 1}="$V${i} $V${i}"`).join("\n");
    expect(found(`V0=x\n${script}\nllama-server --alias "$V60"`)).toEqual([
      ["llama-server|--alias|$V60", false],
    ]);
  });
});

describe("a systemd unit", () => {
  it.each(["ini", "properties", "systemd-unit-file", "systemd-conf"])(
    "has its command found as %s",
    (language) => {
      const unit = `[Service]
Environment=LLAMA_ARG_CTX_SIZE=8192 "M=/m/a b.gguf"
Environment=OPTS="-fa on"
ExecStartPre=/bin/sleep 1
ExecStart=-/usr/bin/llama-server \\
  -m \${M} $OPTS --port 80
`;
      expect(found(unit, language)).toEqual([
        ["LLAMA_ARG_CTX_SIZE=8192|/usr/bin/llama-server|-m|/m/a b.gguf|-fa|on|--port|80", false],
      ]);
    },
  );

  it("has its arguments checked where they stand", () => {
    const unit = "[Service]\nExecStart=/usr/bin/llama-server -m /m/x.gguf -c 65536 -np 4 -fa";
    const [command] = checkCommands(scriptCommands(unit, "ini")?.commands ?? []);
    const bare = command?.remarks.find(({ code }) => code === "bareFlashAttn");
    expect(bare && unit.slice(bare.start, bare.end)).toBe("-fa");
    expect(scriptCommands("[llama-server]\nkey = value", "ini")?.commands).toEqual([]);
  });
});
