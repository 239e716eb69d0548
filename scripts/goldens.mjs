// Whether a change of the sources leaves what the product says as it is:
//   record FOLDER      every command of the command line, one file per case, and the panel's messages
//   modules FOLDER     what is in each bundle
//   compare A B        what differs between two such folders
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { main, run, ScriptError } from "./run.mjs";
import { modules } from "./goldens/modules.mjs";
import { record } from "./goldens/run.mjs";
import { root } from "./testBundles.mjs";

const jobs = {
  async record(folder) {
    const total = await record(folder);
    await panelMessages(path.join(folder, "panel.txt"));
    console.log(`${total} cases and the panel's messages in ${folder}`);
  },
  modules,
  compare,
};

/** The log a unit test writes, also where it does not like it. */
async function panelMessages(file) {
  const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
  await run(process.execPath, [vitest, "run", "--root", "test", "panelMessagesLog"], {
    cwd: root,
    env: { ...process.env, GAUGE_PANEL_LOG: path.resolve(file) },
    what: "the panel's messages",
  }).catch(({ message }) => console.error(message));
}

function compare(one, other) {
  const [here, there] = [one, other].map((folder) => new Set(readdirSync(folder)));
  const both = [...here].filter((name) => there.has(name));
  const text = (folder, name) => readFileSync(path.join(folder, name), "utf8");
  const changed = both.filter((name) => text(one, name) !== text(other, name));
  for (const name of here) if (!there.has(name)) console.log(`only in ${one}: ${name}`);
  for (const name of there) if (!here.has(name)) console.log(`only in ${other}: ${name}`);
  for (const name of changed) {
    console.log(`differs: ${name}`);
    const files = [one, other].map((folder) => path.resolve(folder, name));
    const diff = spawnSync("git", ["diff", "--no-index", "-U1", ...files], { encoding: "utf8" }).stdout;
    console.log(diff.split("\n").slice(4, 24).join("\n"));
  }
  const same = both.length - changed.length;
  const different = here.size + there.size - 2 * both.length + changed.length;
  console.log(`${same} the same, ${different} different`);
  if (different > 0) process.exitCode = 1;
}

await main(async () => {
  const [job = "", ...folders] = process.argv.slice(2);
  const wanted = job === "compare" ? 2 : 1;
  if (!Object.hasOwn(jobs, job) || folders.length !== wanted) {
    throw new ScriptError("goldens.mjs record FOLDER | modules FOLDER | compare FOLDER FOLDER");
  }
  await jobs[job](...folders);
});
