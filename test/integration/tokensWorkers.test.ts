import { readdir, readFile, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { UserError } from "../../src/core/userError";
import { openGgufTokenizer } from "../../src/node/tokenizer/ggufTokenizer";
import { TokenWorkers } from "../../src/node/tokenizer/tokenWorkers";
import { buildWorker, type BuiltWorker } from "../support/builtWorker";
import { mixedCorpus } from "../support/corpus";
import { forgedModel } from "../support/forge/forgeModel";
import { kernelOf } from "../support/kernelOf";

let worker: BuiltWorker;
let crashing: BuiltWorker;
let model: string;
const never = new AbortController().signal;

beforeAll(async () => {
  worker = await buildWorker();
  crashing = await buildWorker("test/support/crashingWorker.ts");
  model = await forgedModel({ vocabulary: "qwen2_5" });
});
afterAll(async () => {
  await worker.remove();
  await crashing.remove();
});

const open = (options: { cacheDir?: string; workers?: number } = {}) =>
  openGgufTokenizer(model, { signal: never, workerFile: worker.file, ...options });

describe("counting on worker threads", () => {
  it("gives the counts and ids of the kernel, whatever the number of threads", async () => {
    const texts = [...mixedCorpus().values()].flat();
    const kernel = kernelOf(model);
    const expected = texts.map((text) => ({ tokens: kernel.count(text, { parseSpecial: true }) }));
    for (const workers of [1, 3]) {
      const tokenizer = await open({ workers });
      const halves = [texts.slice(0, 40), texts.slice(40)];
      const counted = await Promise.all(halves.map((half) => tokenizer.count(half, never)));
      expect(counted.flat()).toEqual(expected);
      const bytes = Buffer.from("a\xff<|im_end|>", "latin1");
      const flags = { addSpecial: false, parseSpecial: true };
      expect(await tokenizer.encode(bytes, flags, never)).toEqual(kernel.encode(bytes, flags));
      await tokenizer.close();
    }
  });

  it("starts a further thread once enough was given for it to be worth it", async () => {
    let threads = 0;
    const started = (): void => {
      threads++;
    };
    process.on("worker", started);
    const workers = new TokenWorkers({ workerFile: worker.file, size: 3, bytesPerThread: 1_000_000 });
    const opened = await workers.run({ kind: "open", file: model }, undefined, never);
    if (opened.kind !== "opened") throw new Error("not opened");
    const flags = { addSpecial: false, parseSpecial: true };
    const count = (on: TokenWorkers, bytes: number): Promise<unknown> =>
      on.run({ kind: "count", texts: ["a word ".repeat(bytes / 7)], flags }, opened.block, never);
    const together = (bytes: number, times: number): Promise<unknown> =>
      Promise.all(Array.from({ length: times }, () => count(workers, bytes)));
    await together(300_000, 3);
    await together(300_000, 3);
    expect(threads).toBe(1);
    await together(600_000, 3);
    expect(threads).toBe(2);
    await workers.close();

    // what somebody waits for at a keystroke does not wait for a folder
    const idle = new TokenWorkers({ workerFile: worker.file, size: 3, bytesPerThread: 1_000_000 });
    threads = 0;
    await Promise.all([count(idle, 300_000), count(idle, 70)]);
    expect(threads).toBe(2);
    await idle.close();
    process.off("worker", started);
  });

  it("replaces a worker that dies, counts again once and says so", async () => {
    const crashes: string[] = [];
    const tokenizer = await openGgufTokenizer(model, {
      signal: never,
      workerFile: crashing.file,
      workers: 1,
      onCrash: (cause) => crashes.push(cause.message),
    });
    const marker = path.join(crashing.folder, "died");
    const counted = await tokenizer.count(["hello", `crash:${marker}`], never);
    expect(counted).toHaveLength(2);
    expect(crashes).toEqual(["the worker ended with code 7"]);
    await expect(tokenizer.count(["crash always"], never)).rejects.toThrow(UserError);
    expect(crashes).toHaveLength(3);
    expect(await tokenizer.count(["hello"], never)).toEqual([{ tokens: 1 }]);

    const file = path.join(crashing.folder, "crash.txt");
    await writeFile(file, "hello");
    const asked = { file: { path: file, label: "crash.txt", bytes: 5, mtimeMs: 0 }, known: [] };
    expect(await tokenizer.countFiles([asked], never)).toEqual([expect.objectContaining({ tokens: 1 })]);
    expect(crashes).toHaveLength(4);
    await tokenizer.close();
  });

  it("keeps linear memory and time for one line of 40 million characters", async () => {
    const tokenizer = await open({ workers: 1 });
    const line = "function(a,b){return a+b*37};".repeat(1_400_000);
    const before = process.memoryUsage().rss;
    const [counted] = await tokenizer.count([line], never);
    const one = kernelOf(model).count("function(a,b){return a+b*37};function(a,b)");
    expect(counted?.tokens).toBeGreaterThan(one);
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 2 ** 20);
    await tokenizer.close();
  }, 60_000);
});

describe("compiled vocabularies", () => {
  const compiled = async () => {
    const names = await readdir(worker.folder);
    return names.filter((name) => name.endsWith(".vocabulary")).map((name) => path.join(worker.folder, name));
  };

  it("are kept, used again, and made again when they are damaged", async () => {
    const kernel = kernelOf(model);
    const text = "Hello <|im_end|> wörld 日本";
    const expected = [{ tokens: kernel.count(text, { parseSpecial: true }) }];
    const first = await open({ cacheDir: worker.folder });
    expect(await first.count([text], never)).toEqual(expected);
    const [file] = await compiled();
    if (file === undefined) throw new Error("nothing was kept");
    const good = await readFile(file);
    const damages: ((bytes: Buffer) => Buffer)[] = [
      (bytes) => bytes,
      (bytes) => bytes.subarray(0, bytes.length / 2),
      () => Buffer.alloc(0),
      (bytes) => bytes.fill(0xff, 5000, 5008),
      (bytes) => bytes.fill(9, 4, 5),
    ];
    for (const damage of damages) {
      await writeFile(file, damage(Buffer.from(good)));
      const again = await open({ cacheDir: worker.folder });
      expect(await again.count([text], never)).toEqual(expected);
      expect(again.fingerprint).toBe(first.fingerprint);
      expect(good.equals(await readFile(file))).toBe(true);
      await again.close();
    }
    await first.close();
  });

  it("belong to the file as it was", async () => {
    const copy = path.join(worker.folder, "copy.gguf");
    await writeFile(copy, await readFile(model));
    const openCopy = async () => {
      const tokenizer = await openGgufTokenizer(copy, {
        signal: never,
        workerFile: worker.file,
        cacheDir: worker.folder,
      });
      await tokenizer.close();
      return tokenizer;
    };
    const before = await compiled();
    await openCopy();
    await utimes(copy, 1_000_000, 1_000_000);
    await openCopy();
    expect(await compiled()).toHaveLength(before.length + 2);
  });

  it("that cannot be kept are no error", async () => {
    const tokenizer = await open({ cacheDir: path.join(model, "not-a-folder") });
    expect(await tokenizer.count(["hello"], never)).toEqual([{ tokens: 1 }]);
    await tokenizer.close();
  });

  it("of a broken file are one clear error", async () => {
    const broken = path.join(worker.folder, "broken.gguf");
    await writeFile(broken, (await readFile(model)).subarray(0, 100_000));
    const opening = openGgufTokenizer(broken, { signal: never, workerFile: worker.file });
    await expect(opening).rejects.toThrow(UserError);
  });
});
