import { copyFile, mkdtemp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cliJson, runCli } from "../support/cli";
import { forgedModel } from "../support/forge/forgeModel";
import { freePort } from "../support/freePort";
import { runLlamaProgram, startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";
import { postJson } from "../support/postJson";
import { builtProduct } from "../support/product";
import { repository } from "../support/repository";

let model: string;
let server: LlamaServerProcess;
let folder: string;

beforeAll(async () => {
  model = await forgedModel({ vocabulary: "qwen2_5" });
  server = await startLlamaServer({ model, args: ["-c", "4096", "-np", "1"] });
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-cli-"));
  await mkdir(path.join(folder, "app"));
  await writeFile(path.join(folder, "app/a.ts"), "export const answer = 42; // café 漢字 <|im_end|>\n");
  await writeFile(path.join(folder, "app/b.md"), "# Title\r\n\r\nSome *prose*, and a ``` fence.\r\n");
  await writeFile(path.join(folder, "app/skip.log"), "not counted\n");
  await writeFile(path.join(folder, "app/.gitignore"), "*.log\n");
});

afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const app = (): string => path.join(folder, "app");

interface CountedFiles {
  readonly files: readonly { readonly path: string; readonly tokens: number }[];
}

interface CheckedModel {
  readonly otherModel: string;
}

describe("llama-gauge against a real llama-server", () => {
  it("counts what the server counts, by its vocabulary where that agrees, and by the model alone", async () => {
    const byServer = (await cliJson(["count", app(), "--server", server.url])) as CountedFiles;
    const byModel = (await cliJson(["count", app(), "--model", model])) as CountedFiles;
    expect(byServer).toMatchObject({
      exact: true,
      tokenizer: { source: "gguf", checkedWith: server.url },
      skipped: [{ path: "skip.log", reason: "ignored" }],
    });
    expect(byModel.files).toEqual(byServer.files);
    expect(byServer.files.map((file) => file.path)).toEqual([".gitignore", "a.ts", "b.md"]);
    for (const { path: name, tokens } of byServer.files) {
      const content = await readFile(path.join(app(), name), "utf8");
      const { body } = await postJson(`${server.url}/tokenize`, { content, parse_special: true });
      expect((body as { tokens: readonly number[] }).tokens, name).toHaveLength(tokens);
    }
  });

  it("counts by the server where another model is named beside it", async () => {
    const other = await forgedModel({ vocabulary: "gptoss" });
    const gone = path.join(folder, "gone.gguf");
    await copyFile(model, gone);
    const elsewhere = await startLlamaServer({ model: gone, args: ["-c", "512", "-np", "1"] });
    try {
      // as on another machine
      await rm(gone);
      const args = ["count", app(), "--server", elsewhere.url, "--model"];
      expect(await cliJson([...args, other])).toMatchObject({ tokenizer: { source: "server" } });
      expect(await cliJson([...args, model])).toMatchObject({ tokenizer: { source: "gguf" } });
      const check = ["check", app(), "--server", elsewhere.url, "--"];
      // the same file under another name; and one of the same size with another vocabulary
      const copy = (await cliJson([...check, "-m", model])) as Partial<CheckedModel>;
      expect(copy).toMatchObject({ memory: { known: true, context: { nCtx: 512 } } });
      expect(copy).not.toHaveProperty("otherModel");
      expect(await cliJson([...check, "-m", other, "-c", "9000"])).toMatchObject({
        ...{ otherModel: other, memory: { known: false }, acceptance: { nCtxPerSlot: 512 } },
        of: { options: { model: gone, ctxSize: 512 } },
      });
    } finally {
      await elsewhere.stop();
    }
  });

  it("names files from the current folder, as the editor does from its workspace", async () => {
    const counted = (await cliJson(["count", "app"], { cwd: folder })) as { files: { path: string }[] };
    expect(counted.files.map((file) => file.path)).toEqual(["app/.gitignore", "app/a.ts", "app/b.md"]);
  });

  it("tokenizes bytes as they are, like llama-tokenize", async () => {
    const text = "\ufeffTabs\tand CRLF\r\n<|im_start|>user\r\n  emoji 🦙 é e\u0301";
    for (const [own, theirs] of [
      [[], ["--no-parse-special"]],
      [["--parse-special"], []],
    ] as const) {
      const result = await cliJson(["tokenize", "--model", model, "--ids", ...own], { input: text });
      const oracle = await runLlamaProgram(
        "llama-tokenize",
        ["-m", model, "--stdin", "--ids", "--no-bos", "--log-disable", ...theirs],
        { input: text },
      );
      expect(result).toMatchObject({ ids: JSON.parse(oracle.stdout) as unknown });
    }
  });

  it("check: the prompt it counted is what the server counts, and the server takes it", async () => {
    const report = (await cliJson(["check", app(), "--server", server.url])) as {
      acceptance: { accepted: boolean; promptTokens: number; nCtxPerSlot: number; answerRoom: number };
      memory: { totalBytes: number };
    };
    const another = await forgedModel({ size: "slope" });
    expect(report).toMatchObject({
      acceptance: { accepted: true, nCtxPerSlot: 4096 },
      model: { provenance: "reported" },
      memory: { known: true, context: { nCtx: 4096, slots: 1 } },
      prefill: { known: false },
      verdict: { kind: "fits" },
    });
    expect(report).not.toHaveProperty("otherModel");
    // another model beside it changes nothing but the line that says so
    const mixed = await cliJson([
      "check",
      app(),
      "--server",
      server.url,
      "--",
      "-m",
      another,
      "-ctk",
      "q8_0",
    ]);
    expect(mixed).toMatchObject({
      otherModel: another,
      memory: { known: true, totalBytes: report.memory.totalBytes },
    });
    const { promptTokens, answerRoom } = report.acceptance;
    expect(promptTokens + answerRoom).toBe(4096);
  });

  it.each([
    [4095, true, 0],
    [4096, false, 1],
    [4097, false, 1],
  ])(
    "check --raw: %i tokens are accepted: %s, exactly as the server says",
    async (tokens, accepted, exitCode) => {
      const file = path.join(folder, "exact.txt");
      // one token each in this vocabulary, as the server confirms below
      await writeFile(file, " the".repeat(tokens));
      const run = await runCli(["check", file, "--raw", "--json", "--server", server.url]);
      expect(JSON.parse(run.stdout)).toMatchObject({ acceptance: { accepted, promptTokens: tokens } });
      expect(run.exitCode).toBe(exitCode);
      const reply = await postJson(`${server.url}/completion`, {
        prompt: " the".repeat(tokens),
        n_predict: 1,
      });
      expect(reply.status).toBe(accepted ? 200 : 400);
    },
  );

  it("check with llama-server's arguments instead of a server", async () => {
    const run = await runCli(["check", app(), "--json", "--", "-m", model, "-c", "512", "-np", "2"]);
    expect(run.exitCode).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject({
      server: { known: false },
      tokens: { exact: true, tokenizer: { source: "gguf" } },
      acceptance: { nCtxPerSlot: 256 },
    });
  });

  it("memory: context and KV cache are what llama-fit-params says", async () => {
    const memory = (await cliJson(["memory", "--", "-m", model, "-c", "8192", "-np", "1"])) as {
      devices: { name: string; contextBytes: number }[];
    };
    const oracle = await runLlamaProgram("llama-fit-params", [
      "-m",
      model,
      "-c",
      "8192",
      "-np",
      "1",
      "-fitp",
      "on",
    ]);
    const host = /^Host (\d+) (\d+) (\d+)/m.exec(oracle.stdout);
    const own = memory.devices.find((device) => device.name === "Host")?.contextBytes ?? 0;
    expect(Math.trunc(own / 2 ** 20)).toBe(Number(host?.[2]));
  });
});

describe("llama-gauge's contract", () => {
  it.skipIf(process.platform === "win32")(
    "a full disk, and a folder that is gone, are told as such",
    async () => {
      await builtProduct();
      const cli = path.join(repository, "dist/cli.js");
      const run = (script: string) =>
        execa("sh", ["-c", script, "sh", process.execPath, cli], { reject: false });
      const gone = await run('d=$(mktemp -d); cd "$d" && rmdir "$d" && exec "$1" "$2" count a.txt');
      expect(gone.stderr).toMatch(
        /^llama-gauge: The folder in which llama-gauge was started no longer exists/m,
      );
      expect(gone.exitCode).toBe(2);
      if (process.platform !== "linux") return;
      const full = await run('exec "$1" "$2" --version >/dev/full');
      expect(full.stderr).toBe("llama-gauge: the output cannot be written (ENOSPC).");
      expect(full.exitCode).toBe(3);
    },
  );

  it("a key that others could read is named once on stderr, and secrets of an address never", async () => {
    const env = { LLAMA_API_KEY: "sk-hunter2" };
    const open = await runCli(["count", "package.json", "--server", "http://llama.invalid:9"], { env });
    expect(open.stderr.match(/sent to http:\/\/llama\.invalid:9 without encryption/g)).toHaveLength(1);
    const local = await runCli(["count", "package.json", "--server", "http://127.0.0.1:9"], { env });
    expect(local.stderr).not.toContain("without encryption");
    const address = "http://me:hunter2@127.0.0.1:9/model.gguf?token=hunter2";
    const download = await runCli(["model", address, "--json"], { env });
    expect(download.stderr).toContain("http://…@127.0.0.1:9/model.gguf?…");
    const named = await runCli(["count", "package.json", "--server", address], { env });
    const unknownOption = await runCli(["count", `--server-at=${address}`], { env });
    for (const { stderr, stdout } of [open, local, download, named, unknownOption]) {
      expect(stderr + stdout).not.toContain("hunter2");
    }
  });

  it.each([
    ["no command", []],
    ["an unknown command", ["estimate"]],
    ["an unknown option", ["count", ".", "--nonsense"]],
    ["a path that does not exist", ["count", "does-not-exist"]],
    ["a model that does not exist", ["model", "does-not-exist.gguf"]],
    ["a model that is no GGUF", ["model", path.join(repository, "LICENSE")]],
    ["a device without a size", ["memory", "--device", "CUDA0", "--", "-m", "m.gguf"]],
    ["a negative number", ["predict", "--curve", "c.json", "--tokens", "-5"]],
    ["no model among the arguments", ["memory", "--", "-c", "4096"]],
  ])("%s: exit 2, a sentence on stderr, nothing on stdout", async (_, args) => {
    const run = await runCli(args);
    expect(run).toMatchObject({ exitCode: 2, stdout: "" });
    expect(run.stderr).not.toContain("This is a bug");
    expect(run.stderr.length).toBeGreaterThan(10);
  });

  it.each(["count", "check"])("%s with a server that is not there: exit 3", async (command) => {
    const run = await runCli([command, repository, "--server", `http://127.0.0.1:${await freePort()}`]);
    expect(run).toMatchObject({ exitCode: 3, stdout: "" });
    expect(run.stderr).toContain("127.0.0.1");
  });

  it("memory and max-context: exit 1 where it exceeds, in words and figures; sizes with units", async () => {
    const memory = await runCli(["memory", "--device", "Host=8MiB", "--", "-m", model, "-c", "4096"]);
    expect(memory.exitCode).toBe(1);
    expect(memory.stdout).toMatch(/^exceeds$/m);
    const none = await runCli(["max-context", "--device", "Host=8MiB", "--", "-m", model]);
    expect(none.exitCode).toBe(1);
    expect(none.stdout).toMatch(/^none: exceeds/);
    expect(none.stdout).not.toMatch(/-c 0/);
    const fits = await runCli(["memory", "--json", "--device", "Host=8GiB", "--", "-m", model, "-c", "4096"]);
    expect(fits.exitCode).toBe(0);
    expect(JSON.parse(fits.stdout)).toMatchObject({ verdict: "fits", devices: [{ freeBytes: 2 ** 33 }] });
    const wrong = await runCli(["memory", "--", "-m", model, "-c", "4096", "-ctk", "q6_0"]);
    // and says no figures of another type
    expect(wrong).toMatchObject({ exitCode: 2, stdout: "" });
    expect(wrong.stderr).toContain("q6_0");
    const variable = await runCli(["memory", "--", "-m", model, "-c", "4096"], {
      env: { LLAMA_ARG_CACHE_TYPE_V: "turbo4" },
    });
    expect(variable).toMatchObject({ exitCode: 2, stdout: "" });
  });

  it("check: tight beside a running server without the margin, with what its process holds", async () => {
    const check = ["check", app(), "--server", server.url, "--margin", "1048576"];
    const run = await runCli(check);
    expect(run.exitCode).toBe(0);
    expect(run.stdout).toMatch(
      /^Tight\. [^]*\n- llama-server runs; .* of Host remains free beside it, less than the 1\.0 TiB/,
    );
    expect(run.stdout).toMatch(/^memory .*, tight$/m);
    expect(run.stdout).not.toContain("larger -c");
    const status = await readFile(`/proc/${server.pid}/status`, "utf8");
    const kib = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
    const [, held] = /measured: ([\d.]+) MiB of host memory/.exec(run.stdout) ?? [];
    expect(Math.abs(Number(held) - kib / 1024)).toBeLessThan(2 + (0.05 * kib) / 1024);
    expect(await cliJson([...check.slice(0, 4)])).toMatchObject({ verdict: { kind: "fits" } });
    expect(await cliJson(check)).toMatchObject({ verdict: { kind: "tight" }, beside: { verdict: "tight" } });
  });

  it("pack: what check counts, byte by byte", async () => {
    const packed = await runCli(["pack", "app", "--server", server.url], { cwd: folder });
    const { body } = await postJson(`${server.url}/tokenize`, { content: packed.stdout });
    const check = (await cliJson(["check", "app", "--server", server.url, "--no-history"], {
      cwd: folder,
    })) as { acceptance: { parts: { files: number; packing: number } } };
    const { files, packing } = check.acceptance.parts;
    expect((body as { tokens: unknown[] }).tokens).toHaveLength(files + packing);
    expect(packed.stdout).toContain("export const answer = 42; // café 漢字 <|im_end|>\n");
  });

  it("history: the runs of a folder, and nothing of an empty one", async () => {
    const history = await cliJson(["history", "--history", folder]);
    expect(history).toMatchObject({ runs: [], records: 0 });
  });

  it("lint: exit 1 where llama-server would refuse the preset", async () => {
    const file = path.join(folder, "models.ini");
    await writeFile(file, "[m]\nmodel = /m.gguf\nctx-sise = 4096\n");
    const run = await runCli(["lint", file, "--json"]);
    expect(run.exitCode).toBe(1);
    expect(JSON.parse(run.stdout)).toMatchObject({
      findings: expect.arrayContaining([
        expect.objectContaining({ severity: "error", line: 3, column: 1, endColumn: 9 }),
      ]) as unknown,
    });
  });

  it("says which version it is", async () => {
    const { version } = JSON.parse(await readFile(path.join(repository, "package.json"), "utf8")) as {
      readonly version: string;
    };
    expect((await runCli(["--version"])).stdout).toBe(`${version}\n`);
  });
});
