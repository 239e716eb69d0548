// Reading the log of a llama-server as `llama-gauge conversation --log` does, beside node's own line reader, which only
// counts the lines: processor time and memory, once whole and once more after a request was added. Each runs alone, in turn.
//   node bench/serverLog.mjs [--mb 500] [--rounds 3]
import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { build } from "esbuild";
import { fixed, root, table } from "./support.mjs";

const option = (name, usual) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? usual : Number(process.argv[at + 1]);
};

const folder = mkdtempSync(path.join(os.tmpdir(), "gauge-log-"));
try {
  const file = path.join(folder, "server.log");
  const real = recorded();
  const lines = writeLog(file, option("--mb", 500) * 1e6, real);
  const readers = await programs();
  const rows = new Map(Object.keys(readers).map((name) => [name, []]));
  for (let round = 0; round < option("--rounds", 3); round++)
    for (const [name, program] of Object.entries(readers)) rows.get(name).push(run(program, file));
  const [ours, peer] = Array.from(rows.values(), best);
  table(
    `${lines.toLocaleString("en")} lines, ${option("--mb", 500)} MB, node ${process.version}, best of ${option("--rounds", 3)}`,
    [
      ["", "processor s", "wall s", "peak MiB", "lines", "requests", "ratio"],
      ["llama-gauge", ...figures(ours), fixed(ours.cpu / peer.cpu)],
      ["node:readline, counting", ...figures(peer), "1"],
    ],
  );
  console.log(`One more request: ${ours.more.bytes} bytes read in ${fixed(ours.more.ms)} ms.`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function figures({ cpu, wall, peak, lines, requests }) {
  return [fixed(cpu), fixed(wall), Math.round(peak), lines, requests ?? ""];
}

function best(runs) {
  return runs.toSorted((a, b) => a.cpu - b.cpu)[0];
}

/** A chat and prompts long enough for progress lines, as the real server wrote them. */
function recorded() {
  const logs = ["chat-plain", "long-prompts"].map((name) =>
    readFileSync(path.join(root, `test/fixtures/logs/conversation/${name}.log`), "utf8"),
  );
  return logs.flatMap((text) => text.split("\n").filter((line) => line !== "")).flatMap(withIdleLines);
}

/** The fixtures leave out the two lines behind this one, which say nothing of a request; a server writes them. */
function withIdleLines(line) {
  const head = /^(.* \| task \d+ \| ) *total time =/.exec(line)?.[1];
  if (head === undefined) return [line];
  return [
    line,
    `${head}   graphs reused =         19`,
    `${head}  graph reallocs =          0    /     0        (same size) / (changed size)`,
  ];
}

/** The recorded requests again and again, their stamps and tasks going on. */
function writeLog(file, size, real) {
  const requests = real.filter((line) => /\| task -?\d+ \|/.test(line));
  const log = openSync(file, "w");
  let lines = 0;
  let written = 0;
  let buffer = real.slice(0, real.findIndex((line) => line.includes("listening on")) + 1).join("\n") + "\n";
  for (let at = 0, task = 0; written < size; at += 600e6, task += 100_000) {
    for (const line of requests) {
      const [, minutes, seconds, milli, micro, rest] = /^(\d+)\.(\d\d)\.(\d{3})\.(\d{3})(.*)$/.exec(line);
      const stamp = (Number(minutes) * 60 + Number(seconds)) * 1e6 + Number(milli + micro) + at;
      const part = (over, digits) => String(Math.floor(stamp / over) % 10 ** digits).padStart(digits, "0");
      const moved = rest.replace(/\| task (\d+) \|/, (_, number) => `| task ${Number(number) + task} |`);
      const clock = String(Math.floor(stamp / 1e6) % 60).padStart(2, "0");
      buffer += `${Math.floor(stamp / 60e6)}.${clock}.${part(1e3, 3)}.${part(1, 3)}${moved}\n`;
      lines++;
    }
    written += writeSync(log, buffer);
    buffer = "";
  }
  closeSync(log);
  return lines;
}

async function programs() {
  const measured = (what) => `
    const before = process.cpuUsage();
    const start = performance.now();
    ${what}
    const { user, system } = process.cpuUsage(before);
    const told = {
      cpu: (user + system) / 1e6,
      wall: (performance.now() - start) / 1000,
      peak: process.resourceUsage().maxRSS / 1024,
      lines, requests,
    };`;
  const sources = {
    ours: `
      import { appendFileSync } from "node:fs";
      import { ServerLog } from "./src/app/logs/serverLogs";
      const signal = AbortSignal.timeout(600_000);
      const log = new ServerLog(process.argv[2]);
      ${measured(`const { ledger } = await log.read(signal);
        const { lines } = ledger; const requests = ledger.requests.length + ledger.earlier;`)}
      const added = process.argv[3];
      appendFileSync(process.argv[2], added);
      const again = performance.now();
      await log.read(signal);
      console.log(JSON.stringify({ ...told, more: { bytes: added.length, ms: performance.now() - again } }));`,
    peer: `
      import { createReadStream } from "node:fs";
      import { createInterface } from "node:readline";
      ${measured(`let lines = 0; let requests;
        const reader = createInterface({ input: createReadStream(process.argv[2]) });
        await new Promise((done) => reader.on("line", () => { lines++; }).on("close", done));`)}
      console.log(JSON.stringify(told));`,
  };
  const made = {};
  for (const [name, contents] of Object.entries(sources)) {
    made[name] = path.join(folder, `${name}.mjs`);
    await build({
      stdin: { contents, resolveDir: root, loader: "ts" },
      outfile: made[name],
      bundle: true,
      platform: "node",
      format: "esm",
      logLevel: "error",
    });
  }
  return made;
}

function run(program, file) {
  const last = readFileSync(path.join(root, "test/fixtures/logs/conversation/three-turns.log"), "utf8");
  const added = last.split("\n").slice(9, 17).join("\n") + "\n";
  const { stdout, stderr, status } = spawnSync(process.execPath, [program, file, added], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}
