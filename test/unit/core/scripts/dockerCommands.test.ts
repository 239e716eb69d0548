import { describe, expect, it } from "vitest";
import { checkCommands, type CheckedCommand } from "../../../../src/core/scripts/commandReport";
import { scriptCommands } from "../../../../src/core/scripts/scriptCommands";
import { growth } from "../../../support/growth";

const commandsOf = (text: string, file = "dockerfile"): CheckedCommand[] =>
  checkCommands(scriptCommands(text, file)?.commands ?? []);
const argumentsOf = (text: string, file?: string): string[] =>
  commandsOf(text, file).map((each) => each.arguments.join(" "));
const marked = (text: string, file?: string): string[] =>
  commandsOf(text, file).flatMap(({ remarks }) =>
    remarks.filter(({ severity }) => severity === "error").map(({ start, end }) => text.slice(start, end)),
  );

// https://docs.docker.com/reference/dockerfile/
describe("a llama-server in a Dockerfile", () => {
  it.each([
    [
      "escapes in a list",
      'FROM x\nCMD ["llama-server", "--alias", "a\\"\\u0062", "-c", "5"]\n',
      ['--alias a"b -c 5'],
    ],
    ["a list over lines", 'FROM x\nCMD [ "llama-server", \\\n  # note\n  "-c", \\\n\n "5" ]\n', ["-c 5"]],
    ["a list that is not closed", 'FROM x\nCMD ["llama-server", "-c", "5"', ["-c 5"]],
    ["the image's entrypoint", 'FROM ghcr.io/ggml-org/llama.cpp:server AS s\nCMD ["-c", "5"]\n', ["-c 5"]],
    [
      "its variables",
      "FROM ghcr.io/ggml-org/llama.cpp:server\nENV LLAMA_ARG_MODEL=/m LLAMA_ARG_CTX_SIZE=5\n",
      [""],
    ],
    ["the last CMD", "FROM x\nCMD llama-server -c 1\nCMD llama-server -c 2\n", ["-c 2"]],
    [
      "an entrypoint of an earlier stage",
      'FROM x AS base\nENTRYPOINT ["llama-server", "-c"]\nFROM --platform=linux/amd64 base\nCMD ["5"]\n',
      ["-c", "-c 5"],
    ],
    [
      "an entrypoint that leaves the arguments before it out",
      'FROM x AS base\nCMD ["-c", "1"]\nFROM base\nENTRYPOINT ["llama-server", "-c", "2"]\n',
      ["-c 2"],
    ],
    [
      "an entrypoint for a shell, without CMD",
      'FROM x\nENTRYPOINT exec llama-server -c 5\nCMD ["-c", "6"]\n',
      ["-c 5"],
    ],
    [
      "a shell in a list",
      'FROM x\nENTRYPOINT ["/bin/sh", "-c", "cd /x && llama-server -c $CTX"]\n',
      ["-c $CTX"],
    ],
    [
      "a here-document",
      "FROM x\nRUN <<EOF\nset -e\nllama-server -c 5\nEOF\nCMD llama-server -c 6\n",
      ["-c 5", "-c 6"],
    ],
    [
      "a here-document of another program",
      "FROM x\nRUN cat <<-'EOF' > /x\nllama-server -c 5\nCMD llama-server -c 7\nEOF\nCMD llama-server -c 6\n",
      ["-c 6"],
    ],
    [
      "RUN with a mount",
      "FROM x\nRUN --mount=type=cache,target=/c --network=none llama-server -c 5\n",
      ["-c 5"],
    ],
    [
      "another escape character",
      "# escape=`\nFROM x\nCMD llama-server -m C:\\m.gguf `\n  -c 5\n",
      ["-m C:m.gguf -c 5"],
    ],
    ["a name in small letters", 'from x\ncmd ["llama-server", "-c", "5"]\n', ["-c 5"]],
  ])("is read with %s", (_, text, expected) => {
    expect(argumentsOf(text)).toEqual(expected);
  });

  it("is marked where it is written", () => {
    expect(
      marked('FROM x\r\nCMD ["llama-server", \\\r\n "--alias", "\\"a", "--ctx-\\u0073ise", "5"]\r\n'),
    ).toEqual(["--ctx-\\u0073ise"]);
    expect(marked("FROM x\nRUN --mount=type=x llama-server \\\n # no\n  --ctx-sise 5\n")).toEqual([
      "--ctx-sise",
    ]);
  });

  it("takes no text as a variable in a list", () => {
    expect(commandsOf('FROM x\nCMD ["llama-server", "-m", "$M"]\n')[0]?.isPlain).toBe(true);
    expect(commandsOf("FROM x\nCMD llama-server -m $M\n")[0]?.isPlain).toBe(false);
  });

  it("is found in a time that grows with the file", () => {
    const textOf = (lines: number): string =>
      `FROM x\nCMD llama-server -c 5 \\\n${"# x\\\n\n  -c 5 \\\n".repeat(lines)}`;
    expect(growth(textOf, (text) => void scriptCommands(text, "dockerfile"), 10_000)).toBeLessThan(4);
  });
});

// https://code.visualstudio.com/docs/debugtest/tasks#_custom-tasks
describe("a llama-server in tasks.json", () => {
  it.each([
    ["arguments before the command", '{"args": ["-c", "5"], "command": "llama-server"}', ["-c 5"]],
    ["escapes", '{"command": "llama-server --alias \\"\\u0061 b\\" -c 5"}', ["--alias a b -c 5"]],
    ["a trailing comma", '{"command": "llama-server", "args": ["-c", "5",],}', ["-c 5"]],
    [
      "a path with blanks",
      '{"type": "process", "command": "C:\\\\a b\\\\llama-server.exe", "args": ["-c", "5"]}',
      ["-c 5"],
    ],
    [
      "a command for Windows",
      '{"command": "x", "windows": {"command": "llama-server.exe", "args": ["-c", "5"]}}',
      ["-c 5"],
    ],
    ["a shell", '{"command": "bash", "args": ["-c", "llama-server -c 5"]}', ["-c 5"]],
    ["half-typed text", '{"command": "llama-server", "args": ["-c", "5", "-n', ["-c 5"]],
    ["lists without end", `{"command": "llama-server -c 5", "x": ${"[".repeat(100_000)}`, []],
  ])("is read with %s", (_, text, expected) => {
    expect(argumentsOf(text, "jsonc")).toEqual(expected);
  });

  it("is marked where it is written", () => {
    const text =
      '{"command": "llama-server", "args": ["--alias", "\\"", {"value": "--ctx-\\u0073ise", "quoting": "weak"}, "5"]}';
    expect(marked(text, "jsonc")).toEqual(["--ctx-\\u0073ise"]);
  });
});
