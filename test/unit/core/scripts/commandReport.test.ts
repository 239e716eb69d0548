import { describe, expect, it } from "vitest";
import { checkCommands, commandsOf, optionAt } from "../../../../src/core/scripts/commandReport";
import { scriptCommands } from "../../../../src/core/scripts/scriptCommands";
import { joinCommandLine } from "../../../../src/core/scripts/joinCommandLine";
import { splitCommandLine, type Shell } from "../../../../src/core/scripts/splitCommandLine";
import { growth } from "../../../support/growth";

const script = `#!/bin/sh
# llama-server --bogus is not run
cd /models && LLAMA_ARG_CTX_SIZE=256k \\
  llama-server -m "$MODEL" -c "$CTX" "$@" \\
    -ctv q8_0 -fa off --no-mmap
grep llama-server log.txt
`;

describe("llama-server in scripts", () => {
  it("is found, and its arguments are checked where they stand", () => {
    const [command, ...others] = checkCommands(commandsOf(script, "posix"));
    expect(others).toEqual([]);
    const remarks = command?.remarks.map(({ code, start, end }) => [code, script.slice(start, end)]);
    expect(remarks).toEqual([
      ["trailingText", "LLAMA_ARG_CTX_SIZE=256k"],
      ["removedOption", "--no-mmap"],
      ["quantisedVNeedsFlashAttn", "-ctv"],
    ]);
  });

  it.each(["posix", "cmd", "powershell"] as const)("a line of 325 kB is checked to its end (%s)", (shell) => {
    const line = `llama-server${" a".repeat(162_500)}`;
    const [command] = checkCommands(commandsOf(line, shell));
    expect(command?.program).toEqual({ start: 0, end: "llama-server".length });
    expect(command?.arguments).toHaveLength(162_500);
  });

  it.each([
    "sudo systemctl restart llama-server",
    "sudo apt-get install -y llama-server",
    "command -v llama-server >/dev/null 2>&1 || exit 1",
    "docker logs -f llama-server",
    "docker build -t llama-server .",
    "docker pull ghcr.io/ggml-org/llama.cpp:server",
    "docker exec -it llama-server bash",
    "cat <<END\nllama-server --bogus\nEND",
    "which llama-server",
    "x=(llama-server llama-cli)",
  ])("does not run in %j", (line) => {
    expect(checkCommands(commandsOf(line, "posix"))).toEqual([]);
  });

  it.each([
    ["sudo -u llama -E llama-server -c 5 > log 2>&1", "-c 5"],
    ["CUDA_VISIBLE_DEVICES=0 nice -n 10 taskset -c 0-3 llama-server -c 5 &", "-c 5"],
    ["timeout 10 llama-server -c 5", "-c 5"],
    ["docker run --name llama-server -p 1:1 ghcr.io/ggml-org/llama.cpp:server -c 5", "-c 5"],
    ["docker exec -it box llama-server -c 5", "-c 5"],
    ["while true; do llama-server -c 5; done", "-c 5"],
    ["exec -a name llama-server -c 5", "-c 5"],
  ])("runs in %j", (line, expected) => {
    const [command] = checkCommands(commandsOf(line, "posix"));
    expect(command?.arguments.join(" ")).toBe(expected);
    expect(command?.remarks.filter(({ severity }) => severity === "error")).toEqual([]);
  });

  it("is found behind the window's title of start, and in brackets", () => {
    const commands = (line: string): string[] =>
      checkCommands(commandsOf(line, "cmd")).map((command) => command.arguments.join(" "));
    expect(commands('start "llama-server" /B cmd /k llama-server.exe -c 5 > log.txt 2>&1')).toEqual(["-c 5"]);
    expect(commands("if exist x ( llama-server -c 5 ) else ( echo )")).toEqual(["-c 5"]);
  });

  it("is offered to be started only where nothing is put in", () => {
    const plain = (line: string): boolean | undefined => checkCommands(commandsOf(line, "posix"))[0]?.isPlain;
    expect(plain(`llama-server -m a.gguf --chat-template-kwargs '{"a": 1}'`)).toBe(true);
    expect(plain("llama-server -m ~/a.gguf")).toBe(false);
    expect(plain("llama-server -m *.gguf")).toBe(false);
  });

  it("has its options explained", () => {
    const at = script.indexOf("-ctv") + 2;
    expect(optionAt(commandsOf(script, "posix"), at)?.option.name).toBe("--cache-type-v");
    expect(optionAt(commandsOf(script, "posix"), script.indexOf("--bogus") + 2)).toBeUndefined();
    expect(optionAt(commandsOf("ls -c 5", "posix"), 4)).toBeUndefined();
  });

  it.each(["posix", "powershell", "cmd"] as const)("is written so that %s reads the same words", (shell) => {
    const words = [
      "llama-server",
      "-m",
      "a b.gguf",
      "it's",
      'say "x"',
      "",
      "a\\b",
      "blk\\.(1|2)=CPU",
      "日本",
      "$x;y&z|w",
    ];
    expect(splitCommandLine(joinCommandLine(words, shell), shell)).toEqual(words);
  });

  it.each<[string, Shell, (size: number) => string]>([
    ["assignments", "posix", (n) => `${"A=1 ".repeat(n)}llama-server`],
    ["variables nobody reads", "posix", (n) => `${numbered(n, "LLAMA_ARG_X$=1 ")}llama-server`],
    ["options nobody knows", "posix", (n) => `llama-server ${numbered(n, "--unknown-$ ")}`],
    ["overrides", "posix", (n) => `llama-server ${"-ot a=CPU ".repeat(n)}`],
    ["programs in a container", "posix", (n) => `docker ${"llama-server ".repeat(n)}`],
    ["titles", "cmd", (n) => `${"start ".repeat(n)}llama-server`],
    ["open brackets", "posix", (n) => `llama-server\n${"$(\n".repeat(n)}`],
    ["open texts", "powershell", (n) => `llama-server\n${'@"\n'.repeat(n)}`],
    ["open comments", "powershell", (n) => `llama-server\n${"<#\n".repeat(n)}`],
    ["open names", "powershell", (n) => `llama-server\n${"${".repeat(n)}`],
  ])("is read in linear time among many %s", (_, shell, textOf) => {
    const times = growth(textOf, (text) => void checkCommands(commandsOf(text, shell)), 20_000);
    expect(times).toBeLessThan(4);
  });

  it.each(["- ", "? ", "[", "{a: "])("is not looked for in YAML of %j without end", (level) => {
    const text = `# llama-server\n${level.repeat(50_000)}`;
    expect(scriptCommands(text, "yaml")?.commands).toEqual([]);
  });

  it("does not become long because lists hold lists, or a shell's text many commands", () => {
    const list = (name: string): string => `@(${`$${name},`.repeat(100)}'x')`;
    const lists = `$c = ${list("d")}\n$b = ${list("c")}\n$a = ${list("b")}\n$z = @($a,$a)\nllama-server @z`;
    const words = commandsOf(lists, "powershell").reduce((sum, command) => sum + command.words.length, 0);
    expect(words).toBeLessThan(200_000);
    const shell = `${"A=1 ".repeat(20_000)} sh -c '${"x\n".repeat(50_000)}llama-server -c 1'`;
    const inner = commandsOf(shell, "posix");
    expect(inner.reduce((sum, command) => sum + command.words.length, 0)).toBeLessThan(200_000);
    expect(checkCommands(inner).map((command) => command.arguments)).toEqual([["-c", "1"]]);
  });
});

const numbered = (count: number, text: string): string =>
  Array.from({ length: count }, (_, index) => text.replace("$", String(index))).join("");
