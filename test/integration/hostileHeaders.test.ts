import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DiagnosticSeverity } from "vscode-languageserver/node";
import { PresetCosts } from "../../src/app/presetCosts";
import { runCli } from "../support/cli";
import { str, u32, type GgufMetadata } from "../support/forge/ggufValue";
import type { TensorSpec } from "../support/forge/tensor";
import { writeGguf } from "../support/forge/writeGguf";
import { removeBuiltServer, withEditor } from "../support/languageEditor";
import { sampleSettings } from "../support/sampleSettings";
import { runLlamaProgram } from "../support/llamaCpp";

const metadata = (architecture: string, more: Readonly<Record<string, number>>): GgufMetadata =>
  new Map([
    ["general.architecture", str(architecture)],
    ...Object.entries({
      block_count: 2,
      context_length: 4096,
      embedding_length: 64,
      feed_forward_length: 128,
      "attention.head_count": 4,
      "attention.head_count_kv": 4,
      ...more,
    }).map(([key, value]) => [`${architecture}.${key}`, u32(value)] as const),
    ["tokenizer.ggml.model", str("no_vocab")],
  ]);

/** Each ended the process or blocked it: 300 million tensors in a list, too many layers, 2^36 ways to read a name. */
const headers: readonly [name: string, metadata: GgufMetadata, error: string][] = [
  [
    "experts",
    metadata("arctic", { expert_count: 8, expert_used_count: 300_000_000 }),
    "arctic.expert_used_count is 300000000, but llama.cpp accepts whole numbers from 0 to 8.",
  ],
  [
    "loops",
    metadata("nanbeige", { num_loops: 262_144 }),
    "nanbeige.num_loops is 262144, but llama.cpp accepts whole numbers from 1 to 256.",
  ],
];

const redos: TensorSpec = {
  name: `blk.0.${"a".repeat(36)}!.weight`,
  shape: [64, 64],
  type: "f32",
  fill: { constant: 0 },
};

/** Little room: what a number in the header sizes would not fit. */
const smallHeap = { env: { NODE_OPTIONS: "--max-old-space-size=256" } };

describe("a header made to do harm", () => {
  let folder: string;
  const at = (name: string): string => path.join(folder, name);

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "llama-gauge-hostile-"));
    for (const [name, values] of headers)
      await writeGguf(at(`${name}.gguf`), { metadata: values, tensors: [] });
    await writeGguf(at("redos.gguf"), { metadata: metadata("llama", {}), tensors: [redos] });
    await writeFile(
      at("presets.ini"),
      [...headers.map(([name]) => name), "redos"]
        .map((name) => `[${name}]\nmodel = ${at(name)}.gguf\nctx-size = 4096\noverride-tensor = (a+)+$=CPU\n`)
        .join("\n"),
    );
  });

  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
    await removeBuiltServer();
  });

  it.each(headers)("%s: one error with the key, its value and its range", async (name, _, error) => {
    const file = at(`${name}.gguf`);
    for (const args of [
      ["model", file],
      ["memory", "--probe", "off", "--", "-m", file],
    ]) {
      const { exitCode, stdout, stderr } = await runCli(args, smallHeap);
      expect(stdout).toBe("");
      expect(stderr).toContain(error);
      expect(exitCode).toBe(2);
    }
    const real = await runLlamaProgram("llama-fit-params", ["-m", file]);
    expect(real.exitCode).not.toBe(0);
  });

  it("a pattern that llama.cpp tries in 2^36 ways is evaluated", async () => {
    const launch = ["-m", at("redos.gguf"), "-c", "4096", "-ngl", "99", "-fit", "off", "-ot"];
    const memory = ["memory", "--device", "CUDA0=8000000000", "--json", "--", ...launch];
    const weightsOf = async (override: string): Promise<unknown> => {
      const { stdout, stderr } = await runCli([...memory, override], smallHeap);
      expect(stderr).toBe("");
      const { devices } = JSON.parse(stdout) as {
        readonly devices: readonly { readonly modelBytes: number }[];
      };
      return devices.map(({ modelBytes }) => modelBytes);
    };
    expect(await weightsOf("(a+)+$=CPU")).toEqual([4 * 64 * 64, 0]);
    expect(await weightsOf("(a+)+!=CPU")).toEqual([0, 4 * 64 * 64]);
  });

  it("a preset that names them is checked to its end", async () => {
    const { exitCode, stdout, stderr } = await runCli(["lint", at("presets.ini")], smallHeap);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout.match(/fitSwitchedOff/g)).toHaveLength(3);
  });

  it("a preset that names them is shown in the editor, with the costs of what can be read", async () => {
    const costs = new PresetCosts({
      cacheFolder: folder,
      settings: () => sampleSettings({ answerReserveTokens: 0 }),
    });
    await withEditor(
      async (editor) => {
        const uri = `file://${at("presets.ini")}`;
        const text = `[experts]\nmodel = ${at("experts.gguf")}\n\n[redos]\nmodel = ${at("redos.gguf")}\noverride-tensor = (a+)+$=CPU\n`;
        const found = editor.diagnostics(uri);
        await editor.show(uri, text);
        expect((await found).filter(({ severity }) => severity === DiagnosticSeverity.Error)).toEqual([]);
        await expect
          .poll(async () => JSON.stringify(await editor.ask("hover", uri, 3, 2)))
          .toContain("4,096 tokens per slot");
      },
      undefined,
      costs,
    );
  });

  it("a line of 325 kB in a script does not end the language server", async () => {
    await withEditor(async (editor) => {
      const script = "file:///x/long.sh";
      const first = editor.diagnostics(script);
      await editor.show(script, `llama-server${" a".repeat(162_500)}\n`, "shellscript");
      expect((await first).length).toBeGreaterThan(0);
    });
  });
});
