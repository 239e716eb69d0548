/**
 * Probes a real llama-server and then really reads prompts two and four times as deep; then probes once more beside a
 * program that takes the CPU. Started by predictionLive.mjs; prints Markdown.
 */
import { spawn } from "node:child_process";
import os from "node:os";
import { parseArgs } from "node:util";
import { eventText } from "../src/core/monitor/interference";
import type { MonitorReport } from "../src/core/monitor/monitorSample";
import type { ProbeReport } from "../src/core/bench/probeReport";
import { formatText } from "../src/core/format";
import { progressSpans } from "../src/core/prefill/liveEta";
import { naiveSeconds } from "../src/core/prefill/depthCurve";
import { predict } from "../src/core/prefill/predict";
import { startMonitor } from "../src/node/monitor/monitor";
import { listeningProcess } from "../src/node/monitor/monitorLinux";
import { runServerProbe } from "../src/app/measuring/serverProbe";
import { LlamaServerConnection } from "../src/node/llamaServer/llamaServerConnection";
import { streamCompletion } from "../src/node/llamaServer/serverProbeStream";
import { forgedModel, type ForgeOptions } from "../test/support/forge/forgeModel";
import { startLlamaServer, type LlamaServerProcess } from "../test/support/llamaCpp";

interface Setup {
  readonly name: string;
  readonly model: ForgeOptions;
  readonly args: readonly string[];
}

const setups: readonly Setup[] = [
  { name: "dense", model: { architecture: "qwen3" }, args: ["-ub", "512"] },
  { name: "hybrid", model: { architecture: "qwen35moe" }, args: ["-ub", "512"] },
  { name: "dense, ubatch 128", model: { architecture: "qwen3" }, args: ["-ub", "128"] },
  { name: "hybrid, ubatch 128", model: { architecture: "qwen35moe" }, args: ["-ub", "128"] },
  { name: "sliding window", model: { architecture: "gemma3" }, args: ["-ub", "512"] },
];

const { positionals } = parseArgs({ allowPositionals: true });
const rounds = Number(positionals[0] ?? 1);
const depth = Number(positionals[1] ?? 4096);
const only = positionals[2];
const signal = new AbortController().signal;

const began = performance.now();
const [cpu] = os.cpus();
const load = os.loadavg().map((value) => value.toFixed(2));
console.log(
  `${cpu?.model ?? "?"}, ${String(os.availableParallelism())} logical CPUs, load before ${load.join(" ")}, probe to ${String(depth)} tokens.\n`,
);
console.log(
  "| setup | to | predicted s | 80 % band | actual s | error % | inside | naive s | watch: probe, run | spread |",
);
console.log("|---|---:|---:|---|---:|---:|---|---:|---|---:|");
for (let round = 0; round < rounds; round++) {
  for (const setup of setups.filter((s) => only === undefined || s.name === only)) {
    const server = await startLlamaServer({
      model: await forgedModel({
        size: "slope",
        vocabulary: "qwen2_5",
        contextLength: 65_536,
        ...setup.model,
      }),
      args: ["-c", String(4 * depth + 512), "-np", "1", "-t", "1", "-tb", "1", "-b", "512", ...setup.args],
    });
    try {
      await oneSetup(setup, server);
    } finally {
      await server.stop();
    }
  }
}

if (only === undefined) await besideHogs();
console.log(
  `\nIn all ${((performance.now() - began) / 60_000).toFixed(1)} minutes; load after ${os
    .loadavg()
    .map((value) => value.toFixed(2))
    .join(" ")}.`,
);

/** A probe while two programs take the CPU: what its verdict says. */
async function besideHogs(): Promise<void> {
  const [setup] = setups;
  if (setup === undefined) return;
  const server = await startLlamaServer({
    model: await forgedModel({ size: "slope", vocabulary: "qwen2_5", contextLength: 65_536, ...setup.model }),
    args: ["-c", String(depth + 512), "-np", "1", "-t", "1", "-tb", "1", "-b", "512", ...setup.args],
  });
  const hogs = Array.from({ length: 2 }, () =>
    spawn(process.execPath, ["-e", "for (;;) Math.sqrt(Math.random());"], {
      argv0: "the-hog",
      stdio: "ignore",
    }),
  );
  try {
    const probe = await runServerProbe({ url: server.url, budgetSeconds: 60, maxDepth: depth }, signal);
    const pids = hogs.map(({ pid }) => String(pid)).join(" and ");
    console.log(
      `\nBeside two programs that only compute (processes ${pids}): ${probe.monitor.verdict}, spread ${(probe.curve.spread ?? 0).toFixed(3)}.\n`,
    );
    for (const event of probe.monitor.events) console.log(`- ${formatText(eventText(event))}`);
  } finally {
    for (const hog of hogs) hog.kill("SIGKILL");
    await server.stop();
  }
}

async function oneSetup(setup: Setup, server: LlamaServerProcess): Promise<void> {
  const probe = await runServerProbe(
    { url: server.url, budgetSeconds: 60, maxDepth: depth, flags: setup.args.join(" ") },
    signal,
  );
  if (process.env["VERBOSE"] !== undefined) {
    console.error(probe.curve.points.map((p) => `${p.depth}+${p.tokens}:${p.seconds.toFixed(3)}`).join(" "));
  }
  const deepest = Math.max(...probe.curve.points.map((p) => p.depth + p.tokens));
  for (const factor of [2, 4]) {
    const tokens = Math.min(factor * deepest, 4 * depth);
    const prediction = predict(probe.curve, { tokens });
    const { seconds, report } = await prefill(server, tokens);
    const cells = prediction.known
      ? [
          prediction.seconds.toFixed(1),
          `${prediction.lowSeconds.toFixed(1)} – ${prediction.highSeconds.toFixed(1)}`,
          seconds.toFixed(1),
          (100 * (prediction.seconds / seconds - 1)).toFixed(1),
          seconds >= prediction.lowSeconds && seconds <= prediction.highSeconds ? "yes" : "no",
        ]
      : ["unknown", "–", seconds.toFixed(1), "–", "–"];
    const naive = naiveSeconds(probe.curve, tokens).toFixed(1);
    console.log(
      `| ${[setup.name, `${tokens} (${factor}x)`, ...cells, naive, `${probe.monitor.verdict}, ${report.verdict}`, (probe.curve.spread ?? 0).toFixed(3)].join(" | ")} |`,
    );
    if (process.env["VERBOSE"] !== undefined) explain(probe, report);
  }
}

async function prefill(
  server: LlamaServerProcess,
  tokens: number,
): Promise<{ readonly seconds: number; readonly report: MonitorReport }> {
  const monitor = startMonitor({ intervalSeconds: 1 });
  const pid = listeningProcess(server.port);
  if (pid !== undefined) monitor.measure(pid);
  await monitor.baseline(2, signal);
  const seed = Math.floor(Math.random() * 1e6);
  const prompt = Array.from({ length: tokens }, (_, i) => 1000 + ((i * 7919 + seed * 104_729) % 50_000));
  const answer = await streamCompletion(
    new LlamaServerConnection(server.url),
    { prompt, generatedTokens: 1, timeoutSeconds: 3600 },
    signal,
  );
  const report = await monitor.stop();
  const spans = progressSpans({ total: tokens, cached: 0, progress: answer.progress });
  if (process.env["VERBOSE"] !== undefined) {
    console.error(spans.map((s) => `${s.depth}:${((1000 * s.seconds) / s.tokens).toFixed(2)}`).join(" "));
  }
  return { seconds: answer.timings?.promptSeconds ?? Number.NaN, report };
}

function explain(probe: ProbeReport, report: MonitorReport): void {
  for (const event of [...probe.monitor.events, ...report.events])
    console.error(`  ${formatText(eventText(event))}`);
}
