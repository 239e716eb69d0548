import { rmSync } from "node:fs";
import path from "node:path";
import { performance } from "node:perf_hooks";
import { fixed, table } from "../support.mjs";

const rounds = 3;

/** From nothing to the first count, on a worker thread. */
export async function opening({ support, work, dist }) {
  const rows = [["vocabulary", "tokens", "from the GGUF, wall s", "CPU s", "compiled, wall s", "CPU s"]];
  const cacheDir = path.join(work, "compiled");
  const { signal } = new AbortController();
  for (const name of ["qwen2_5", "llama3", "gptoss", "gemma3"]) {
    const model = await support.vocabularyModel(name);
    const { tokens } = await support.vocabulary(name);
    const open = async () => {
      const started = performance.now();
      const cpu = process.cpuUsage();
      const workerFile = path.resolve(dist, "worker.js");
      const tokenizer = await support.openGgufTokenizer(model, { signal, cacheDir, workerFile });
      await tokenizer.count(["a"], signal);
      const wall = (performance.now() - started) / 1000;
      const { user, system } = process.cpuUsage(cpu);
      await tokenizer.close();
      return { wall, cpu: (user + system) / 1e6 };
    };
    const best = async (prepare) => {
      const found = [];
      for (let round = 0; round < rounds; round++) {
        prepare();
        found.push(await open());
      }
      return found.flatMap(({ wall, cpu }) => [{ wall, cpu }]).sort((a, b) => a.wall - b.wall)[0];
    };
    const fresh = await best(() => rmSync(cacheDir, { recursive: true, force: true }));
    const compiled = await best(() => undefined);
    const cells = [fresh, compiled].flatMap(({ wall, cpu }) => [fixed(wall, 3), fixed(cpu, 3)]);
    rows.push([name, tokens.length, ...cells]);
  }
  table(`Vocabulary ready, on a worker thread (best of ${rounds})`, rows);
}
