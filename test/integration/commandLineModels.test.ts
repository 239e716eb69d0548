import { createReadStream } from "node:fs";
import { copyFile, mkdir, mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cliJson, runCli } from "../support/cli";
import { forgedModel } from "../support/forge/forgeModel";
import { goodAnswer, startHttpStub } from "../support/stubServer";

const files = "/api/models/ada/tide-GGUF/tree/main";
const size = 2 ** 30;
let folder: string;
let model: string;
let hub: Server;
let sentBytes = 0;
let env: Record<string, string>;

/** A hub of one repository with one file, which knows ranges; its cache is empty. */
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-cli-models-"));
  await mkdir(path.join(folder, "src"));
  await writeFile(path.join(folder, "src/a.ts"), "export const answer = 42; // café 漢字 <|im_end|>\n");
  model = path.join(folder, "tide.gguf");
  await copyFile(await forgedModel(), model);
  // weights that nobody needs
  await truncate(model, size);
  hub = createServer((request, response) => {
    if (request.url?.startsWith(files)) {
      response.end(JSON.stringify([{ path: "README.md" }, { path: "tide-Q4_K_M.gguf" }]));
      return;
    }
    const [, from = "0", to = ""] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    const end = Math.min(size - 1, Number(to));
    sentBytes += end + 1 - Number(from);
    response.writeHead(206, { "content-range": `bytes ${from}-${String(end)}/${String(size)}` });
    createReadStream(model, { start: Number(from), end }).pipe(response);
  });
  await new Promise<void>((resolve) => hub.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${String((hub.address() as AddressInfo).port)}`;
  env = { HF_ENDPOINT: url, HF_HOME: path.join(folder, "hub"), XDG_CACHE_HOME: path.join(folder, "cache") };
});
afterAll(async () => {
  hub.close();
  await rm(folder, { recursive: true, force: true });
});

const source = (): string => path.join(folder, "src");
const onHub = ["-hf", "ada/tide-GGUF"];

describe("a model that is not downloaded", () => {
  it.each([
    ["model", []],
    ["count", ["src"]],
    ["tokenize", ["--ids", "src/a.ts"]],
    ["pack", ["src"]],
  ])("%s answers as for the file, before and after --", async (command, args) => {
    const run = (more: readonly string[]): Promise<unknown> =>
      cliJson(
        [command, ...args.map((each) => (each.startsWith("src") ? path.join(folder, each) : each)), ...more],
        {
          env,
        },
      );
    const { seconds: _, ...byFile } = (await run(["-m", model])) as Record<string, unknown>;
    expect(await run(onHub)).toMatchObject(byFile);
    if (command === "count") {
      expect(await run(["--", "-mu", `${env["HF_ENDPOINT"] ?? ""}/tide.gguf`])).toMatchObject(byFile);
    }
  });

  it("is counted and its memory computed by its header alone", async () => {
    sentBytes = 0;
    const checked = await cliJson(
      ["check", source(), ...onHub, "--device", "CUDA0=8GiB", "--", "-c", "4096"],
      {
        env,
      },
    );
    expect(checked).toMatchObject({
      tokens: { exact: true, tokenizer: { source: "gguf" } },
      memory: { known: true },
    });
    expect(sentBytes).toBeLessThan(size / 10);
  });

  it("is not measured, and not downloaded for it", async () => {
    const run = await runCli(["probe", "--bench", "llama-bench", "--no-history", ...onHub], { env });
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toContain("llama-server -hf ada/tide-GGUF");
  });
});

describe("a model's name", () => {
  it("means the file in llama.cpp's cache where it is there", async () => {
    const commit = "0123456789abcdef0123456789abcdef01234567";
    const kept = path.join(folder, "hub/hub/models--ada--kept-GGUF");
    await mkdir(path.join(kept, "refs"), { recursive: true });
    await mkdir(path.join(kept, "snapshots", commit), { recursive: true });
    await writeFile(path.join(kept, "refs/main"), commit);
    await copyFile(model, path.join(kept, "snapshots", commit, "kept-Q8_0.gguf"));
    sentBytes = 0;
    const counted = await cliJson(["count", source(), "-hf", "ada/kept-GGUF:Q8_0"], { env });
    expect(counted).toMatchObject({ exact: true });
    expect(sentBytes).toBe(0);
  });

  it.each([
    ["two models", ["count", ".", "--model", "a.gguf", "-m", "b.gguf"], "Two models"],
    ["no model", ["model"], "No model is specified"],
    ["no value", ["model", "-hf"], "-hf"],
    ["a command about none", ["history", "-m", "a.gguf"], "has no use for"],
  ])("is bad input: %s", async (_, args, said) => {
    const run = await runCli(args, { env, cwd: folder });
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toContain(said);
  });
});

describe("a question that got no number", () => {
  const curve = (): string => path.join(folder, "curve.json");
  const other = { model: "other.gguf", build: "b1-a", flags: "-b 2048 -ub 512" };
  const points = [0, 4096, 8192].map((depth) => ({
    depth,
    tokens: 512,
    seconds: 1 + depth / 8192,
    spread: 0.02,
  }));

  it.each(["predict", "check", "ladder"])(
    "%s does not exit with 0, and --any-curve answers it",
    async (command) => {
      await writeFile(curve(), JSON.stringify({ key: other, points, generation: [] }));
      const server = await startHttpStub(goodAnswer());
      const plan = path.join(folder, "plan.yaml");
      await writeFile(
        plan,
        "rungs: [1600]\nbaseTokens: 1200\nrepetitions: 1\ncanaries: { target: 6, other: 6 }\ncriteria: { perRun: 0, pooled: 0 }\n",
      );
      const asked = {
        predict: ["predict", "--tokens", "1000", "-m", model],
        check: ["check", source(), "-m", model, "--no-history", "--device", "CUDA0=8GiB"],
        ladder: ["ladder", "--server", server.url, "--plan", plan, "--no-history"],
      }[command];
      try {
        const refused = await runCli([...(asked ?? []), "--curve", curve()], { env });
        expect(refused.exitCode).toBe(4);
        expect(refused.stdout + refused.stderr).toContain("another setup");
        const taken = await runCli([...(asked ?? []), "--curve", curve(), "--any-curve"], { env });
        // the stub is no server that could recall anything: the ladder begins, and ends otherwise
        if (command === "ladder") expect(taken.exitCode).not.toBe(4);
        else expect(taken.exitCode).toBe(0);
        expect(taken.stdout + taken.stderr).toContain("of another setup");
      } finally {
        await server.close();
      }
    },
  );
});
