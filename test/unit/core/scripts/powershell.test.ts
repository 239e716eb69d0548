import { describe, expect, it } from "vitest";
import { checkCommands, commandsOf, optionAt } from "../../../../src/core/scripts/commandReport";
import { growth } from "../../../support/growth";

/** Starts a server where none runs, as scripts of Windows users do. */
const serve = `param(
    [string]$Model = "D:\\models\\Qwen3.6-27B-Q4_K_M.gguf",
    [int]$Ctx = 131072
)
$server = "C:\\llama.cpp\\llama-server.exe"
if (-not (Get-Process llama-server -ErrorAction SilentlyContinue)) {
    # the wall is waiting, not memory
    $list = @(
        "-m", $Model,
        '-c', $Ctx,
        "-ctk", "q8_0",
        "--no-mmap" # faster here
    )
    $p = Start-Process -FilePath $server -ArgumentList $list -WindowStyle Hidden -PassThru
}
`;

const arguments_ = (text: string): readonly (readonly string[])[] =>
  checkCommands(commandsOf(text, "powershell")).map((command) => command.arguments);

describe("llama-server in PowerShell", () => {
  it("is found behind Start-Process, variables and lists, and remarked where it is written", () => {
    const [command, ...others] = checkCommands(commandsOf(serve, "powershell"));
    expect(others).toEqual([]);
    expect(command?.arguments).toEqual([
      ...["-m", "D:\\models\\Qwen3.6-27B-Q4_K_M.gguf", "-c", "131072", "-ctk", "q8_0", "--no-mmap"],
    ]);
    expect(command?.options).toMatchObject({ ctxSize: 131072, cacheTypeK: "q8_0" });
    expect(command?.remarks.map(({ code, start, end }) => [code, serve.slice(start, end)])).toEqual([
      ["removedOption", '"--no-mmap"'],
      ["kvTypesNotOnCuda", '"-ctk"'],
    ]);
    expect(serve.slice(command?.program.start, command?.program.end)).toBe("$server");
    expect(optionAt(commandsOf(serve, "powershell"), serve.indexOf("-ctk") + 1)?.option.name).toBe(
      "--cache-type-k",
    );
  });

  it.each([
    ["& 'C:\\a b\\llama-server.exe' -m a.gguf `\n  -c 4096", ["-m", "a.gguf", "-c", "4096"]],
    [
      "$a = @('-m','a.gguf','-c',4096)\nllama-server @a --port 9000",
      ["-m", "a.gguf", "-c", "4096", "--port", "9000"],
    ],
    ['Start-Process llama-server "-m a.gguf -c 4096"', ["-m", "a.gguf", "-c", "4096"]],
    ["saps llama-server -Args '-m','a.gguf',\n '-c','4096' -NoNewWindow", ["-m", "a.gguf", "-c", "4096"]],
    // Start-Process joins its arguments: the path falls apart, as it does when it runs
    ["Start-Process llama-server -Args '-m','a b.gguf'", ["-m", "a", "b.gguf"]],
    ["if ($x) { & llama-server -m a.gguf -c 4096 }", ["-m", "a.gguf", "-c", "4096"]],
    ["function serve { llama-server -m a.gguf -c 4096 @args }", ["-m", "a.gguf", "-c", "4096", "@args"]],
    ["$c = 1; $c = 2; llama-server -c $c", ["-c", "$c"]],
    ["$m = Join-Path $PSScriptRoot 'a.gguf'; llama-server -m $m", ["-m", "$m"]],
    ["llama-server -ot 'blk\\.(1|2)=CPU' -c ${ctx}", ["-ot", "blk\\.(1|2)=CPU", "-c", "${ctx}"]],
  ])("%s", (text, expected) => {
    expect(arguments_(text)).toEqual([expected]);
  });

  it("says whether a command can be run as it is", () => {
    const plain = (text: string): unknown => checkCommands(commandsOf(text, "powershell"))[0]?.isPlain;
    expect(plain("llama-server -c 4096")).toBe(true);
    expect(plain("llama-server -c $c")).toBe(false);
  });

  it.each([
    ["Write-Output 'llama-server -c 5'"],
    ["Get-Process llama-server"],
    ["Stop-Process -Name llama-server"],
    ["# llama-server -c 5"],
    ["$a = @("],
    ["Start-Process"],
    ["{{{{"],
    ["'"],
  ])("finds none in %s", (text) => {
    expect(arguments_(text)).toEqual([]);
  });

  it("is quick with a large script", () => {
    const textOf = (lines: number): string =>
      `${"$a = @('x', \"y\", `\n) # z\n".repeat(lines)}llama-server -c 1`;
    const times = growth(textOf, (text) => expect(arguments_(text)).toEqual([["-c", "1"]]), 20_000);
    expect(times).toBeLessThan(4);
  });

  it.each<[string, string[][]]>([
    ["llama-server -c 512 2>&1 | Tee-Object log", [["-c", "512"]]],
    ["llama-server -c 512 *> log.txt", [["-c", "512"]]],
    ["<#\n llama-server -c 5\n#>", []],
    ['@"\nllama-server -c 5 "x"\n"@', []],
    ["llama-server -c ($n + 1) -np 2", [["-c", "($n + 1)", "-np", "2"]]],
    ["$a = @('-c', '5'); $a += '-np', '2'; llama-server @a", [["@a"]]],
  ])("is told from redirections, comments and computed words: %j", (line, expected) => {
    expect(arguments_(line)).toEqual(expected);
    expect(checkCommands(commandsOf(line, "powershell")).flatMap(({ remarks }) => remarks)).toEqual([]);
  });
});
