import { describe, expect, it } from "vitest";
import { checkCommands } from "../../../../src/core/scripts/commandReport";
import { scriptCommands } from "../../../../src/core/scripts/scriptCommands";
import { growth } from "../../../support/growth";

type EmbeddingFile = "json" | "yaml" | "dockerfile";

/** Codes and marked texts of what is remarked in a file. */
function remarks(text: string, file: EmbeddingFile): [string, string][] {
  return checkCommands(scriptCommands(text, file)?.commands ?? []).flatMap((command) =>
    command.remarks.map(({ code, start, end }): [string, string] => [
      code,
      text.slice(start, end).replaceAll(/["']/g, ""),
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
    [
      "tasks.json with other keys, comments and brackets",
      "json",
      `{"tasks": [{"command": "llama-server", // "args": ["--no"],\n "type": "process", "args": ["-m", "q [1].gguf",\n /* "x" */ "--chat-template-kwargs", "{\\"a\\":[1]}", {"value": "--ctx-sise", "quoting": "strong"}, "1"]}]}`,
    ],
    [
      "llama-swap, a text over lines",
      "yaml",
      "cmd: llama-server -m a.gguf\n  --ctx-sise 1 # note\nttl: 60\n",
    ],
    [
      "compose, an entrypoint and its command",
      "yaml",
      "entrypoint: /app/llama-server\ncommand:\n  - --ctx-sise\n",
    ],
    ["llama-swap, escaped escapes", "yaml", `cmd: "llama-server --alias \\\\\\"a --ctx-sise 1"\n`],
    [
      "llama-swap, single quotes",
      "yaml",
      `a:\n  cmd: 'llama-server --chat-template-kwargs ''{"a": 1}'' --ctx-sise 1'\n`,
    ],
    ["llama-swap, double quotes", "yaml", `a:\n  "cmd": "llama-server -m \\"a b\\" \\\n    --ctx-sise 1"\n`],
    [
      "llama-swap, what a shell would see as its own",
      "yaml",
      "cmd: llama-server --alias x;(1|2) --grammar > --ctx-sise 1\n",
    ],
    [
      "compose, a list of lines",
      "yaml",
      "command:\n  - /app/llama-server\n  - -m # note\n  # --no\n  - 'a b.gguf'\n  - --ctx-sise\n  - 1\nx: y\n",
    ],
    ["compose, single quotes", "yaml", "command: ['llama-server', '-m', 'a[1].gguf', '--ctx-sise', '1']\n"],
    [
      "a Dockerfile's ENTRYPOINT and CMD",
      "dockerfile",
      `FROM x\nENTRYPOINT ["llama-server"]\nEXPOSE 1\nCMD ["-m", "a", "--ctx-sise", "1"]\n`,
    ],
    [
      "a Dockerfile with comments between",
      "dockerfile",
      "CMD llama-server -m a \\\n  # --no\n\n  --ctx-sise 1\n",
    ],
  ])("is read in %s", (_, file, text) => {
    expect(remarks(text, file)).toEqual([wrong]);
  });

  it.each<[string, EmbeddingFile, string]>([
    ["prose", "yaml", "note: llama-server --ctx-sise 4096 is wrong\n"],
    ["another command", "json", `{"command": "make", "args": ["--ctx-sise"]}`],
    ["what comes after a block", "yaml", "a:\n  cmd: |\n    llama-server -m a.gguf\n  env: --ctx-sise\n"],
    ["half-typed text", "json", `{"command": "llama-server", "args": ["-m", "a.gguf", "--ct`],
    ["half-typed text", "yaml", "cmd: ["],
    ["a program alone", "yaml", "entrypoint: /app/llama-server\nenvironment:\n  - A=--ctx-sise\n"],
    // a comment ends a plain text: YAML has no value with a second line behind it
    [
      "what broken YAML has behind a comment",
      "yaml",
      "cmd: llama-server -m a # note\n  --ctx-sise 1\nttl: 60\n",
    ],
    ["a comment", "json", `// {"command": "llama-server --ctx-sise 1"}\n`],
    ["a copied file", "dockerfile", "COPY llama-server /x\nRUN chmod +x llama-server --ctx-sise\n"],
    ["nothing", "dockerfile", ""],
  ])("is not seen in %s", (_, file, text) => {
    expect(remarks(text, file)).toEqual([]);
  });

  it("is found quickly in a large file", () => {
    const textOf = (parts: number): string => 'key: [value, "a"]\ncmd: |\n  x\n'.repeat(parts);
    expect(
      growth(textOf, (text) => void scriptCommands(`# llama-server\n${text}`, "yaml"), 3000),
    ).toBeLessThan(4);
  });
});
