import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { maskSecrets } from "../../../../src/core/launch/maskSecrets";
import { splitCommandLine, splitCommands } from "../../../../src/core/scripts/splitCommandLine";

const lines = [
  `llama-server -m "my model.gguf" -c 4096`,
  `a 'b c' d\\ e "f\\"g" "h\\i" j""k ''`,
  `llama-server \\\n  -m a.gguf \\\n  -c 1 # a comment`,
  `x '#' y#z "a'b" 'c"d'`,
  `-ot "blk\\.(1|2)\\.=CPU" --chat-template-kwargs '{"a": 1}'`,
];

describe("splitting command lines", () => {
  it.each(lines)("reads %j as a POSIX shell does", (line) => {
    const { stdout } = spawnSync(
      "sh",
      ["-c", `for word in ${line.replace(/ # .*$/, "")}\ndo printf '%s\\0' "$word"; done`],
      {
        encoding: "utf8",
      },
    );
    expect(splitCommandLine(line, "posix")).toEqual(stdout.split("\0").slice(0, -1));
  });

  // PowerShell's and cmd's documented rules; neither runs here
  it.each([
    [
      "powershell",
      `& "C:\\x y\\llama-server.exe" -m 'it''s.gguf' \`\n -c 4096 # note`,
      ["&", "C:\\x y\\llama-server.exe", "-m", "it's.gguf", "-c", "4096"],
    ],
    ["powershell", '-ot "a`"b" "c""d"', ["-ot", 'a"b', 'c"d']],
    [
      "cmd",
      `"C:\\x y\\llama-server.exe" -m a^&b.gguf -c 1 ^\r\n -np 2`,
      ["C:\\x y\\llama-server.exe", "-m", "a&b.gguf", "-c", "1", "-np", "2"],
    ],
  ] as const)("reads %s: %j", (shell, line, words) => {
    expect(splitCommandLine(line, shell)).toEqual(words);
  });

  it("finds the commands of a script with their places", () => {
    const script = "cd /x && A=1 llama-server -c 5; echo ok\nllama-server -c 6";
    const commands = splitCommands(script, "posix").map(({ words }) => words);
    expect(commands.map((words) => words.map(({ value }) => value).join(" "))).toEqual([
      "cd /x",
      "A=1 llama-server -c 5",
      "echo ok",
      "llama-server -c 6",
    ]);
    for (const { value, start, end } of commands.flat()) expect(script.slice(start, end)).toBe(value);
  });

  it.each([
    ["a -m b.gguf > log 2>&1", "a -m b.gguf"],
    ["a -c 5 >>log 2>/dev/null </dev/null &", "a -c 5"],
    ["a -c 5 &> log", "a -c 5"],
    ['a <<< "b c" -c 5', "a -c 5"],
    ["(cd /x && a -c 5)", "cd /x|a -c 5"],
    ["if a; then b -c 5; else c; fi", "a|b -c 5|c"],
    ["f() { a -c 5; }", "f|a -c 5"],
    ["args=(-c 5 'x y'); a", "args=(-c 5 'x y')|a"],
    ['a "$(b "c d"; e)" -c $((4 * 8)) `f | g` ${h:-i j}', 'a $(b "c d"; e) -c $((4 * 8)) `f | g` ${h:-i j}'],
    ["cat <<'END' > f\na -c 5\nEND\nb", "cat|b"],
    ["cat <<-END\n\ta -c 5\n\tEND\nb", "cat|b"],
  ])("knows what of a shell's line a program gets: %j", (line, commands) => {
    expect(
      splitCommands(line, "posix")
        .map(({ words }) => words.map(({ value }) => value).join(" "))
        .join("|"),
    ).toBe(commands);
  });

  it("tells the words a shell puts something else in place of", () => {
    const expanded = (line: string, shell: "posix" | "powershell" | "cmd" | "words"): string[] =>
      splitCommands(line, shell)
        .flatMap(({ words }) => words)
        .flatMap(({ value, expands }) => (expands === true ? [value] : []));
    expect(expanded(`a $b "$c" '$d' \\$e *.gguf '*.x' ~/f g~ '{"h": 1}' 5%`, "posix")).toEqual([
      "$b",
      "$c",
      "*.gguf",
      "~/f",
    ]);
    expect(expanded("a $b '$c' ($d + 1) @e f@g *.gguf", "powershell")).toEqual(["$b", "($d + 1)", "@e"]);
    expect(expanded('a "%b%" c$', "cmd")).toEqual(["%b%"]);
    expect(expanded("a '${PORT}' b", "words")).toEqual(["${PORT}"]);
  });

  it.each(["'", '"', "\\", "a '", "`", "^", "$(", "\u0000", "&&&&", "a \\"])("ends with %j", (line) => {
    for (const shell of ["posix", "powershell", "cmd"] as const) {
      expect(splitCommandLine(line, shell).length).toBeLessThan(3);
    }
  });

  it("masks keys and tokens in every form", () => {
    const line = "LLAMA_API_KEY=s1 llama-server --api-key s2 --hf-token=s3 -hft s4 --api_key s5 -c 1";
    const masked = maskSecrets(line.split(" ")).join(" ");
    expect(masked).not.toMatch(/s\d/);
    expect(masked).toContain("-c 1");
  });
});
