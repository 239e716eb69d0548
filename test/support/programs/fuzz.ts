/**
 * Tries what once did harm to one target, then the seeds from the one given on, for so many seconds of the clock. Prints
 * each before it is tried, so that whoever ends this program knows it, then one line of JSON. Inputs that did harm have
 * negative numbers.
 */
import { mkdtempSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { triedFirst } from "../fuzz/harmful";
import { isRefusal, targets } from "../fuzz/targets";
import { SeededRandom } from "../seededRandom";

const [, , name = "", firstSeed = "1", seconds = "1", most = "Infinity"] = process.argv;
const target = targets[name];
if (target === undefined) throw new Error(`no target ${name}`);
const folder = mkdtempSync(path.join(tmpdir(), "fuzz-"));
const faults: { seed: number; error: string }[] = [];
let [tries, refused, worstMs, worstSeed] = [0, 0, 0, 0];

async function attempt(seed: number, read: () => void | Promise<void>): Promise<void> {
  writeSync(1, `${seed}\n`);
  const start = process.cpuUsage();
  try {
    await read();
  } catch (error) {
    if (isRefusal(error)) refused++;
    else if (faults.length < 20) {
      faults.push({
        seed,
        error: error instanceof Error ? (error.stack ?? error.message).slice(0, 800) : String(error),
      });
    }
  }
  const { user, system } = process.cpuUsage(start);
  const spent = (user + system) / 1000;
  // the first makes what the others use
  if (tries++ > 0 && spent > worstMs) [worstMs, worstSeed] = [spent, seed];
}

for (const [at, read] of triedFirst(name).entries()) await attempt(-1 - at, read);
const end = performance.now() + Number(seconds) * 1000;
for (let seed = Number(firstSeed); performance.now() < end && tries < Number(most); seed++)
  await attempt(seed, () => target(new SeededRandom(seed), folder));
rmSync(folder, { recursive: true, force: true });
const peakBytes = process.resourceUsage().maxRSS * 1024;
console.log(JSON.stringify({ name, tries, refused, faults, worstMs, worstSeed, peakBytes }));
