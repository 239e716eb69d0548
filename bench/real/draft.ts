import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { parseArguments } from "../../src/core/launch/commandLine";
import { breakdown } from "../../src/core/memory/budget/breakdown";
import { modelOf } from "../../src/core/model/modelOf";
import { readGgufHeader } from "../../src/node/gguf/ggufModelSource";
import { modelNames, realSetup, signal, startReal, table } from "./support";

const kinds: Readonly<Record<string, readonly string[]>> = {
  none: [],
  "ngram-simple": ["--spec-type", "ngram-simple"],
  "ngram-map-k": ["--spec-type", "ngram-map-k"],
  "ngram-mod": ["--spec-type", "ngram-mod"],
};

/** A text that repeats itself is what an n-gram draft is for: its lines are found in the prompt. */
const lines = Array.from({ length: 12 }, (_, i) => `${i + 1}. The registry entry of this line is in force.`);
const prompt = `${lines.join("\n")}\n\n${lines.join("\n")}\n\n${lines.slice(0, 3).join("\n")}\n`;

async function complete(url: string, body: object): Promise<unknown> {
  const response = await fetch(`${url}/completion`, { method: "POST", body: JSON.stringify(body) });
  return response.json();
}

interface Timings {
  readonly predicted_per_second: number;
  readonly prompt_ms: number;
  readonly draft_n?: number;
  readonly draft_n_accepted?: number;
}

export async function draft(): Promise<void> {
  const setup = await realSetup("chat");
  const header = modelOf(await readGgufHeader(setup.file, signal));
  const folder = await mkdtemp(path.join(os.tmpdir(), "gauge-draft-"));
  const rows: string[][] = [];
  try {
    for (const [kind, args] of Object.entries(kinds)) {
      const log = path.join(folder, `${kind}.log`);
      const server = await startReal(setup, 4096, [...args, "-lv", "4", "--log-file", log]);
      let timings: Timings;
      try {
        const ask = { prompt, n_predict: 160, temperature: 0, ignore_eos: true, cache_prompt: false };
        ({ timings } = (await complete(server.url, ask)) as { readonly timings: Timings });
      } finally {
        await server.stop();
      }
      const text = await readFile(log, "utf8");
      const logged = Array.from(text.matchAll(/(?:KV|compute) buffer size = +([\d.]+) MiB/g), ([, size]) =>
        Number(size),
      ).reduce((sum, size) => sum + size, 0);
      const options = parseArguments(["-c", "4096", "-np", "1", ...args]).options;
      const { rows: parts, caches } = breakdown(header, options, [], {});
      const bytes =
        caches.reduce((sum, cache) => sum + cache.bytes, 0) +
        parts.reduce((sum, part) => sum + part.compute.bytes, 0);
      const { draft_n: drafted = 0, draft_n_accepted: accepted = 0 } = timings;
      rows.push([
        ...[kind, (bytes / 2 ** 20).toFixed(2), logged.toFixed(2), (timings.prompt_ms / 1000).toFixed(2)],
        ...[timings.predicted_per_second.toFixed(1), drafted === 0 ? "–" : `${accepted} of ${drafted}`],
      ]);
      console.error(rows.at(-1)?.join(", "));
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  console.log(`\n## A draft that drafts: ${modelNames.chat}, 160 tokens after a text that repeats itself\n`);
  console.log(
    table(
      ["Draft", "MiB, computed", "MiB, in the log", "Reading s", "Generation t/s", "Drafted tokens accepted"],
      rows,
    ),
  );
}
