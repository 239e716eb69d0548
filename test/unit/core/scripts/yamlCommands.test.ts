import { describe, expect, it } from "vitest";
import { checkCommands, type CheckedCommand } from "../../../../src/core/scripts/commandReport";
import { scriptCommands } from "../../../../src/core/scripts/scriptCommands";

const commandsOf = (text: string): CheckedCommand[] =>
  checkCommands(scriptCommands(text, "yaml")?.commands ?? []);
const argumentsOf = (text: string): string[] => commandsOf(text).map((each) => each.arguments.join(" "));
/** Errors, and where they are marked. */
const marked = (text: string): [string, string][] =>
  commandsOf(text).flatMap(({ remarks }) =>
    remarks
      .filter(({ severity }) => severity === "error")
      .map(({ code, start, end }): [string, string] => [code, text.slice(start, end)]),
  );
/** What stands at the program's place. */
const programs = (text: string): string[] =>
  commandsOf(text).map(({ program }) => text.slice(program.start, program.end));

describe("a llama-server command in YAML", () => {
  it.each([
    ["a list without quotes", "command: [llama-server, -m, m.gguf]\n", "-m m.gguf"],
    ["a map on one line", 's: { image: x, command: [llama-server, "-m", m.gguf] }\n', "-m m.gguf"],
    ["an explicit key", "? command\n: - llama-server\n  - -m\n  - m.gguf\n", "-m m.gguf"],
    ["a tagged list", "command: !override [llama-server, -c, 5]\n", "-c 5"],
    ["an empty word", 'command: [llama-server, --alias, "", -c, 5]\n', "--alias  -c 5"],
    ["numbers as they are written", "command: [llama-server, -c, 0010, --temp, 1.0]\n", "-c 0010 --temp 1.0"],
    ["escapes", 'cmd: "llama-server -m \\"a b\\" --alias \\x41\\u0042\\\\\\\\c"\n', "-m a b --alias AB\\c"],
    ["a folded block", "cmd: >-\n  llama-server\n    -m a.gguf\n\n  -c 5\nttl: 1\n", "-m a.gguf -c 5"],
    ["an indented block", "cmd: |4\n       llama-server \\\n    -c 5\n", "-c 5"],
    ["Windows line ends", "a:\r\n  cmd: |\r\n    llama-server \\\r\n    -c 5\r\n  ttl: 1\r\n", "-c 5"],
    ["the second document", "a: 1\n---\ncmd: llama-server -c 5\n...\n", "-c 5"],
    ["a text over lines", "cmd:\n  llama-server\n  -c 5 # note\n", "-c 5"],
    ["a shell's text", 'command: ["bash", "-lc", "cd /x && exec llama-server -c 5 \\"$0\\""]\n', "-c 5 $0"],
    ["a shell in a text", "command: sh -c 'llama-server -c 5'\n", "-c 5"],
  ])("is read from %s", (_, text, expected) => {
    expect(argumentsOf(text)).toEqual([expected]);
  });

  it("is marked where it is written, behind escapes and folded lines", () => {
    const text = 'cmd: "llama-server --alias \\"\\u65e5 x\\" \\\n   --ctx-\\x73ise 1"\nttl: 1\n';
    expect(marked(text)).toEqual([["unknownOption", "--ctx-\\x73ise"]]);
    const folded = "a:\r\n  - cmd: >\r\n      llama-server\r\n\r\n      --ctx-sise 1\r\n";
    expect(marked(folded)).toEqual([["unknownOption", "--ctx-sise"]]);
    const inner = `command: ["sh", '-c', 'llama-server --alias ''a'' "--ctx-sise" 1']\n`;
    expect(marked(inner)).toEqual([["unknownOption", '"--ctx-sise"']]);
  });

  it("behind an alias has its program at the alias and its arguments at the anchor", () => {
    const text = [
      "x-run: &run [llama-server, --ctx-sise, 5]",
      "services:",
      "  one: { command: *run }",
      "  two:",
      "    command: *run",
      "",
    ].join("\n");
    expect(argumentsOf(text)).toEqual(["--ctx-sise 5", "--ctx-sise 5"]);
    expect(programs(text)).toEqual(["*run", "*run"]);
    expect(new Set(marked(text))).toHaveLength(2);
    expect(marked(text)[0]).toEqual(["unknownOption", "--ctx-sise"]);
    expect(new Set(commandsOf(text).map(({ program }) => program.start)).size).toBe(2);
  });

  // https://yaml.org/type/merge.html: own keys first, then those of the earlier map
  it.each([
    ["a merge", "a: &a {command: [llama-server, -c, '1']}\nb: {<<: *a, image: x}\n", ["-c 1", "-c 1"]],
    [
      "an own key",
      "a: &a {command: [llama-server, -c, '1']}\nb: {<<: *a, command: [llama-server, -c, '2']}\n",
      ["-c 1", "-c 2"],
    ],
    [
      "a list of merges",
      "a: &a {command: [llama-server, -c, '1']}\nb: &b {command: [llama-server, -c, '2']}\nc: {<<: [*b, *a]}\n",
      ["-c 1", "-c 2", "-c 2"],
    ],
    [
      "merges through merges",
      "a: &a {entrypoint: [llama-server]}\nb: &b {<<: *a}\nc: {<<: *b, command: [-c, '1']}\n",
      ["-c 1"],
    ],
    [
      "an anchor that is set again",
      "a: &a [llama-server, -c, '1']\nb: {cmd: *a}\nc: &a [x]\nd: {cmd: *a}\n",
      ["-c 1"],
    ],
    ["items behind aliases", "a: &m m.gguf\ncommand: [llama-server, -m, *m]\n", ["-m m.gguf"]],
    ["a map merged into itself", "a: &a {<<: *a, command: [llama-server, -c, '1']}\n", ["-c 1"]],
    ["an unknown alias", "a: {<<: *none, command: *none}\nb: {command: [llama-server, -c, '1']}\n", ["-c 1"]],
  ])("is read through %s", (_, text, expected) => {
    expect(argumentsOf(text)).toEqual(expected);
  });
});

describe("a container in YAML", () => {
  // the images' entrypoint is /app/llama-server (llama.cpp's .devops), and a command is what follows it
  const compose = `services:
  llama:
    image: ghcr.io/ggml-org/llama.cpp:server-cuda
    ports: ["8080:8080"]
    command: >
      -m /models/qwen.gguf -c 65536 -np 4 -ngl 99 --host 0.0.0.0 --port 8080
      --cache-type-k q8_0 --cache-type-v q8_0 -fa
  llama-list:
    image: ghcr.io/ggml-org/llama.cpp:server
    command: ["-m", "/models/qwen.gguf", "--ctx-size", "32k", "--no-mmap"]
  llama-env:
    image: ghcr.io/ggml-org/llama.cpp:server
    environment:
      LLAMA_ARG_MODEL: /models/x.gguf
      LLAMA_ARG_CTX_SIZE: 32k
  other:
    image: nginx
    command: ["-m", "x"]
  nothing:
    image: ghcr.io/ggml-org/llama.cpp:server
`;

  it("runs what its image runs, with the arguments of Docker Compose", () => {
    expect(commandsOf(compose).map(({ options }) => options.model)).toEqual([
      "/models/qwen.gguf",
      "/models/qwen.gguf",
      "/models/x.gguf",
    ]);
    expect(programs(compose)).toEqual([
      "ghcr.io/ggml-org/llama.cpp:server-cuda",
      "ghcr.io/ggml-org/llama.cpp:server",
      "ghcr.io/ggml-org/llama.cpp:server",
    ]);
    expect(marked(compose)).toEqual([
      ["bareFlashAttn", "-fa"],
      ["removedOption", "--no-mmap"],
    ]);
    expect(commandsOf(compose).map(({ isPlain }) => isPlain)).toEqual([false, false, false]);
  });

  // https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/
  it("runs command and args of Kubernetes", () => {
    const pod = `apiVersion: apps/v1
kind: Deployment
spec:
  template:
    spec:
      containers:
        - name: llama-server
          image: ghcr.io/ggml-org/llama.cpp:server-cuda
          command: ["/app/llama-server"]
          args:
            - --model
            - /models/x.gguf
            - --ctx-size
            - "100000"
            - --flash-attn
        - image: ghcr.io/ggml-org/llama.cpp:server
          args: [-m, /models/y.gguf]
          env:
            - name: LLAMA_ARG_CTX_SIZE
              value: "many"
        - image: ghcr.io/ggml-org/llama.cpp:server
          command: [llama-server, -m, /models/z.gguf]
        - image: busybox
          command: [sh, -c]
          args: ["llama-server -m /models/w.gguf --ctx-sise 5"]
`;
    expect(commandsOf(pod).map(({ options }) => options.model)).toEqual([
      "/models/x.gguf",
      "/models/y.gguf",
      "/models/z.gguf",
      "/models/w.gguf",
    ]);
    expect(marked(pod)).toEqual([
      ["bareFlashAttn", "--flash-attn"],
      ["badVariable", "many"],
      ["unknownOption", "--ctx-sise"],
    ]);
  });

  // https://docs.docker.com/reference/compose-file/services/#entrypoint
  it.each([
    ["an entrypoint in front of the command", "entrypoint: [llama-server, -c]\n    command: '5'", ["-c 5"]],
    ["an empty entrypoint", "entrypoint: []\n    command: llama-server -c 5", ["-c 5"]],
    ["no entrypoint", "entrypoint: null\n    command: -c 5", ["-c 5"]],
    ["a program as an argument", "command: llama-server -c 5", ["llama-server -c 5"]],
    ["another entrypoint", "entrypoint: /bin/x\n    command: -c 5", []],
  ])("with %s", (_, fields, expected) => {
    const text = `services:\n  a:\n    image: ghcr.io/ggml-org/llama.cpp:server\n    ${fields}\n`;
    expect(argumentsOf(text)).toEqual(expected);
  });

  it("with the image of all tools starts the server if it is told to", () => {
    const service = (command: string): string =>
      `services:\n  a:\n    image: ghcr.io/ggml-org/llama.cpp:full-cuda\n    command: ${command}\n`;
    expect(argumentsOf(service("--server -m x"))).toEqual(["-m x"]);
    expect(argumentsOf(service("--run -m x"))).toEqual([]);
  });
});

describe("llama-swap's configuration", () => {
  const macros = `macros:
  "llama": >
    /opt/llama.cpp/bin/llama-server
    --port \${PORT}
    --swa-full --ctx-sise 1
  deep: "\${llama} -np 2"
models:
  "Seed-36B":
    ttl: 300
    cmd: |
      \${llama}
      # not an argument
      --model /mnt/models/Seed.gguf
  "LFM2":
    macros: { size: 128000 }
    cmd: \${deep} -m /mnt/models/LFM2.gguf --ctx-size \${size}
`;

  it("has its macros put in", () => {
    expect(argumentsOf(macros)).toEqual([
      "--port ${PORT} --swa-full --ctx-sise 1 --model /mnt/models/Seed.gguf",
      "--port ${PORT} --swa-full --ctx-sise 1 -np 2 -m /mnt/models/LFM2.gguf --ctx-size 128000",
    ]);
    expect(programs(macros)).toEqual(["${llama}", "${deep}"]);
    expect(marked(macros)[0]).toEqual(["unknownOption", "--ctx-sise"]);
    expect(commandsOf(macros).map(({ isPlain }) => isPlain)).toEqual([false, false]);
  });

  it("leaves comments in a block out, and has no macros without end", () => {
    const text =
      'macros: {a: "${b}${b}", b: "${a}${a}"}\nmodels:\n  x:\n    cmd: |\n      llama-server ${a}\n      # --no\n      -c 5--fit on\n';
    const [command, ...others] = commandsOf(text);
    expect(others).toEqual([]);
    expect(command?.arguments.slice(-3)).toEqual(["-c", "5--fit", "on"]);
  });
});

describe("a broken document", () => {
  const whole = [
    "x: &x {image: 'a', command: [\"llama-server\", '-m', \"a\\tb\"]}",
    "services:",
    "\tone: {<<: *x, command: *x}",
    "  two:",
    "    command: >-2",
    "     llama-server -m \\",
    "      b # c",
    "---",
    "cmd: 'llama-server ''-c'' 5'",
    "? [a]",
    ": {b: !!str c, *x : d}",
  ].join("\n");

  it("is read as far as it can be", () => {
    expect(argumentsOf("a: [b\nc:\n\tcmd: llama-server -c 5\n")).toEqual(["-c 5"]);
    expect(argumentsOf("command: [llama-server, -c, 5\nx: y\n")).toEqual(["-c 5"]);
    expect(argumentsOf('a: "x" y\nb:\n  cmd: llama-server -c 5\n')).toEqual(["-c 5"]);
  });

  it("never stops the reading, wherever it breaks off", () => {
    for (let end = 0; end <= whole.length; end += 2) {
      expect(() => commandsOf(`# llama-server\n${whole.slice(0, end)}`)).not.toThrow();
      expect(() => commandsOf(`# llama-server\n${whole.slice(end)}`)).not.toThrow();
    }
  });

  it("never stops the reading with another character anywhere", () => {
    for (const char of [
      '"',
      "'",
      "[",
      "{",
      "}",
      "]",
      "\t",
      "\n",
      ":",
      "-",
      "&",
      "*",
      "|",
      "?",
      "!",
      "\\",
      "\0",
      "\ud800",
    ]) {
      for (let at = 0; at < whole.length; at += 7) {
        expect(() =>
          commandsOf(`# llama-server\n${whole.slice(0, at)}${char}${whole.slice(at)}`),
        ).not.toThrow();
      }
    }
  });
});

describe("a hostile document", () => {
  const bomb = Array.from(
    { length: 40 },
    (_, i) => `a${i + 1}: &a${i + 1} {<<: [${`*a${i}, `.repeat(9)}*a${i}]}`,
  );
  it.each([
    ["merges of merges", `a0: &a0 {command: [llama-server, -c, '5']}\n${bomb.join("\n")}\n`],
    ["deep lists", `llama-server: ${"[".repeat(100_000)}`],
    ["deep maps", `llama-server: ${"{a: ".repeat(20_000)}`],
    ["many anchors", `llama-server: ${"&a ".repeat(60_000)}`],
    ["a long blank", `cmd: "llama-server${" ".repeat(200_000)}-c 5"`],
    [
      "macros of macros",
      `macros:\n${Array.from({ length: 30 }, (_, i) => `  m${i}: "${`\${m${i + 1}}`.repeat(20)}"`).join("\n")}\nmodels: {a: {cmd: "llama-server \${m0}"}}\n`,
    ],
    [
      "macros of nothing",
      `macros:\n${Array.from({ length: 12 }, (_, i) => `  m${i}: "${`\${m${i + 1}}`.repeat(20)}"`).join("\n")}\n  m12: ""\nmodels: {a: {cmd: "llama-server \${m0}"}}\n`,
    ],
    [
      "a long text behind many aliases",
      `a: &a "llama-server ${"-c 5 ".repeat(20_000)}"\nb:\n${"  - cmd: *a\n".repeat(10_000)}`,
    ],
    [
      "a long list behind many aliases",
      `a: &a [llama-server, ${"x, ".repeat(20_000)}]\nb:\n${"  - {command: *a}\n".repeat(8000)}`,
    ],
    [
      "many variables behind many aliases",
      `a: &a {${Array.from({ length: 8000 }, (_, i) => `V${i}: x`).join(", ")}}\nservices:\n${Array.from({ length: 2500 }, (_, i) => `  s${i}: {environment: *a, command: llama-server -c 5}\n`).join("")}`,
    ],
    ["five megabytes", `cmd: llama-server -c 5\n${"key: value\n".repeat(500_000)}`],
  ])(
    "is read in a time that its length explains: %s",
    (_, text) => {
      expect(() => commandsOf(text)).not.toThrow();
    },
    60_000,
  );
});
