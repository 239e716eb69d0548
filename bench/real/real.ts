import os from "node:os";
import { parseArgs } from "node:util";
import { again } from "./again";
import { draft } from "./draft";
import { ladder } from "./ladder";
import { wait } from "./wait";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  // one process and short prompts: whether it works, not what it finds
  options: { quick: { type: "boolean", default: false } },
});
const parts: Readonly<Record<string, () => Promise<void>>> = {
  wait: () => wait(values.quick ? 1 : 4, values.quick ? 256 : 1024),
  again: () => again(values.quick ? 768 : 2048),
  draft,
  ladder,
};
const wanted = positionals.length === 0 ? ["wait", "again", "draft"] : positionals;
const unknown = wanted.find((name) => parts[name] === undefined);
if (unknown !== undefined) throw new Error(`no part ${unknown}; there are ${Object.keys(parts).join(", ")}`);

const load = (): string =>
  os
    .loadavg()
    .map((value) => value.toFixed(1))
    .join(" ");
const [cpu] = os.cpus();
const began = performance.now();
console.log(`${cpu?.model ?? "?"}, ${os.availableParallelism()} logical CPUs, load before ${load()}.`);
for (const name of wanted) await parts[name]?.();
console.log(`\nIn all ${((performance.now() - began) / 60_000).toFixed(1)} minutes, load after ${load()}.`);
