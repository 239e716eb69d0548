// Rules of ignore files against the real git (`git check-ignore`), beside the npm package `ignore`: wrong answers, time for
// many files, and what a rule made to never end costs.
//   node bench/ignore.mjs [--cases 200] [--files 120000]
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { performance } from "node:perf_hooks";
import { Worker } from "node:worker_threads";
import { build } from "esbuild";
import { folders, handPicked, paths, randomRules } from "./ignore/rules.mjs";
import { fixed, root, table } from "./support.mjs";

const option = (name, usual) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? usual : Number(process.argv[at + 1]);
};
const matchers = path.join(root, "out/bench/ignore.mjs");
await build({
  entryPoints: [path.join(root, "bench/ignore/matchers.mjs")],
  outfile: matchers,
  bundle: true,
  platform: "node",
  format: "esm",
  logLevel: "error",
});
const { contenders } = await import(matchers);

/** One folder per case; in every second generated one, a folder inside has an ignore file of its own. */
const cases = handPicked.map((rules) => ({ kind: "picked by hand", files: { "": rules } }));
for (let seed = 0; seed < option("--cases", 200); seed++) {
  const files = { "": randomRules(seed) };
  if (seed % 2 === 0) files["a"] = randomRules(seed + 1_000_000);
  cases.push({ kind: seed % 2 === 0 ? "generated, nested files" : "generated", files });
}

const truth = askGit();
const wrong = new Map(contenders.map(({ name }) => [name, new Map()]));
const total = new Map();
cases.forEach(({ kind, files }, number) => {
  total.set(kind, (total.get(kind) ?? 0) + paths.length);
  for (const { name, matcher } of contenders) {
    const ignored = matcher(files);
    for (const each of paths) {
      const right = truth.get(`c${number}/${each}`);
      if (ignored(each) === right) continue;
      const counts = wrong.get(name);
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      if (counts.get(kind) <= 5) console.error(JSON.stringify({ name, files, path: each, git: right }));
    }
  }
});
table("Wrong answers", [
  ["rules", "pairs of rules and path", ...contenders.map(({ name }) => name)],
  ...Array.from(total, ([kind, count]) => [
    kind,
    count,
    ...contenders.map(({ name }) => wrong.get(name).get(kind) ?? 0),
  ]),
]);

speed(option("--files", 120_000));
await hostile();

function askGit() {
  const folder = mkdtempSync(path.join(os.tmpdir(), "gauge-ignore-"));
  try {
    const git = (args, input) =>
      spawnSync("git", ["-c", "core.excludesFile=", ...args], {
        cwd: folder,
        input,
        encoding: "utf8",
        maxBuffer: 2 ** 30,
      });
    git(["init", "-q"]);
    const asked = [];
    cases.forEach(({ files }, number) => {
      for (const each of folders) mkdirSync(path.join(folder, `c${number}`, each), { recursive: true });
      for (const [at, text] of Object.entries(files)) {
        writeFileSync(path.join(folder, `c${number}`, at, ".gitignore"), text);
      }
      for (const each of paths) asked.push(`c${number}/${each.replace(/\/$/, "")}`);
    });
    const { stdout } = git(
      ["-c", "core.ignoreCase=false", "check-ignore", "--no-index", "--stdin", "-z", "-v", "-n"],
      asked.join("\0"),
    );
    const fields = stdout.split("\0");
    const answers = new Map();
    asked.forEach((each, index) => {
      const [source, , pattern = ""] = fields.slice(index * 4);
      const original = paths[index % paths.length];
      const [number] = each.split("/", 1);
      answers.set(`${number}/${original}`, source !== "" && !pattern.startsWith("!"));
    });
    return answers;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function speed(count) {
  const rules = [
    ..."node_modules/ dist/ build/ out/ target/ .venv/ __pycache__/ .cache/ coverage/ .idea/ *.log *.tmp *.swp *.o".split(
      " ",
    ),
    ..."*.pyc *.class *.so *.dll *.exe .DS_Store Thumbs.db .env .env.* !.env.example /config/*.local.json".split(
      " ",
    ),
    ..."docs/_build/ **/generated/** **/*.min.js src/**/fixtures/*.bin packages/*/lib/ *.sqlite[0-9] report.[0-9]*.json".split(
      " ",
    ),
  ].join("\n");
  const names = Array.from(
    { length: count },
    (_, i) => `packages/p${i % 300}/src/module${i % 37}/deep/file${i}.ts`,
  );
  const rows = contenders.map(({ name, matcher }) => {
    const start = process.cpuUsage();
    const ignored = matcher({ "": rules });
    for (const each of names) ignored(each);
    return [name, fixed(process.cpuUsage(start).user / 1e6, 2)];
  });
  table(`CPU seconds for ${count} files, 30 rules, every folder above asked once`, [
    ["", "seconds"],
    ...rows,
  ]);
}

/** Rules of an untrusted folder are read, too. */
async function hostile() {
  const hard = [
    ["*a*a*…b, 40 times", `${"*a".repeat(40)}b`, `${"a".repeat(200)}c`],
    ["x/**/a/**/a…/b, 20 times", `x${"/**/a".repeat(20)}/**/b`, `x/${"a/".repeat(120)}c`],
  ];
  const rows = [];
  for (const [title, rule, file] of hard) {
    const row = [title];
    for (const [index] of contenders.entries()) {
      const start = performance.now();
      const worker = new Worker(
        `import(${JSON.stringify(matchers)}).then(({ contenders }) => contenders[${index}].matcher({ "": ${JSON.stringify(rule)} })(${JSON.stringify(file)}))`,
        { eval: true },
      );
      const ended = await Promise.race([
        new Promise((resolve) => worker.once("exit", () => resolve(true))),
        new Promise((resolve) => setTimeout(resolve, 20_000, false)),
      ]);
      row.push(ended ? `${fixed((performance.now() - start) / 1000, 2)} s` : "stopped after 20 s");
      await worker.terminate();
    }
    rows.push(row);
  }
  table("Rules made to never end, one path", [["rule", ...contenders.map(({ name }) => name)], ...rows]);
}
