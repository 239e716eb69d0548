import { describe, expect, it } from "vitest";
import { checkCommands } from "../../../../src/core/launch/commandReport";
import { commandsIn, type EmbeddingFile } from "../../../../src/core/launch/embeddedCommands";
import { growth } from "../../../support/growth";

/** Codes and marked texts of what is remarked in a file. */
function remarks(text: string, file: EmbeddingFile): [string, string][] {
  const commands = commandsIn(text, file);
  expect(commands).toHaveLength(text.length);
  return checkCommands(commands, "posix").flatMap((command) =>
    command.remarks.map(({ code, start, end }): [string, string] => [
      code,
      text.slice(start, end).replaceAll('"', ""),
    ]),
  );
}

const wrong: [string, string] = ["unknownOption", "--ctx-sise"];

describe("a llama-server command line in another file", () => {
  it.each<[string, EmbeddingFile, string]>([
    [
      "tasks.json with args",
      "json",
      `{"tasks": [{"type": "process", "command": "llama-server",\n "args": [\n  "-m", "a b.gguf",\n  "--ctx-sise", "4096"]}]}`,
    ],
    [
      "tasks.json in one string",
      "json",
      `{"tasks": [{"type": "shell", "command": "llama-server -m a.gguf --ctx-sise 4096"}]}`,
    ],
    [
      "llama-swap, a block",
      "yaml",
      "models:\n  a:\n    cmd: |\n      # the server\n      /opt/llama-server --port ${PORT}\n      -m a.gguf \\\n      --ctx-sise 4096\n    ttl: 60\n",
    ],
    [
      "llama-swap, one line",
      "yaml",
      "models:\n  a:\n    cmd: llama-server -m a.gguf --ctx-sise 4096 # note\n",
    ],
    [
      "compose, a list",
      "yaml",
      `services:\n  l:\n    command: ["llama-server", "-m", "a.gguf",\n      "--ctx-sise", "1"]\n`,
    ],
    ["compose, quoted", "yaml", `services:\n  l:\n    command: "llama-server -m a.gguf --ctx-sise 1"\n`],
    [
      "a Dockerfile's list",
      "dockerfile",
      `FROM x\nCMD ["llama-server", "-m", "a.gguf", "--ctx-sise", "1"]\n`,
    ],
    ["a Dockerfile's line", "dockerfile", "FROM x\r\nCMD llama-server -m a.gguf \\\r\n  --ctx-sise 1\r\n"],
  ])("is read in %s", (_, file, text) => {
    expect(remarks(text, file)).toEqual([wrong]);
  });

  it.each<[string, EmbeddingFile, string]>([
    ["prose", "yaml", "note: llama-server --ctx-sise 4096 is wrong\n"],
    ["another command", "json", `{"command": "make", "args": ["--ctx-sise"]}`],
    ["what comes after a block", "yaml", "a:\n  cmd: |\n    llama-server -m a.gguf\n  env: --ctx-sise\n"],
    ["half-typed text", "json", `{"command": "llama-server", "args": ["-m", "a.gguf", "--ct`],
    ["half-typed text", "yaml", "cmd: ["],
    ["nothing", "dockerfile", ""],
  ])("is not seen in %s", (_, file, text) => {
    expect(remarks(text, file)).toEqual([]);
  });

  it("is found quickly in a large file", () => {
    const textOf = (parts: number): string => 'key: [value, "a"]\ncmd: |\n  x\n'.repeat(parts);
    expect(growth(textOf, (text) => void commandsIn(text, "yaml"), 30_000)).toBeLessThan(4);
  });
});
