import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ProbeReport } from "../../src/core/bench/probeReport";
import { readMetrics, timingBetween, type PromptCounters } from "../../src/core/bench/serverMetrics";
import { SlotWatch } from "../../src/core/bench/slotWatch";
import type { RequestTiming } from "../../src/core/prefill/liveTimings";
import { UserError } from "../../src/core/userError";
import { HistoryStore } from "../../src/app/historyStore";
import { runServerProbe } from "../../src/app/measuring/serverProbe";
import { readServerActivity } from "../../src/node/llamaServer/serverActivity";
import { bundledProgram } from "../support/bundled";
import { forgedModel } from "../support/forge/forgeModel";
import { startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";
import { prefill, startSlopeServer, type PromptTimings } from "../support/slopeServer";

const signal = new AbortController().signal;
let server: LlamaServerProcess;

beforeAll(async () => {
  server = await startSlopeServer();
});
afterAll(() => server.stop());

describe("the probe of a running server", () => {
  it("does not touch a busy server", async () => {
    const client = new AbortController();
    const busy = fetch(`${server.url}/completion`, {
      method: "POST",
      body: JSON.stringify({ prompt: "a", n_predict: 1_000_000, ignore_eos: true, stream: true }),
      headers: { "content-type": "application/json" },
      signal: client.signal,
    })
      .then((response) => response.text())
      .catch(() => undefined);
    await until(async () => (await slots()).some((s) => s.is_processing));
    const probe = runServerProbe({ url: server.url, budgetSeconds: 5 }, signal);
    await expect(probe).rejects.toThrow(/busy/);
    client.abort();
    await busy;
  });

  it("closes its request when it is cancelled, keeps what it had, and the server is idle again", async () => {
    await until(async () => (await slots()).every((s) => !s.is_processing));
    const cancel = new AbortController();
    const report: ProbeReport = await runServerProbe(
      {
        url: server.url,
        budgetSeconds: 60,
        maxDepth: 8192,
        onProgress: ({ phase, depth }) => {
          if (phase === "measuring" && depth >= 1024) cancel.abort();
        },
      },
      cancel.signal,
    );
    expect(report.ended).toBe("cancelled");
    expect(report.curve.points.length).toBeGreaterThanOrEqual(4);
    expect(report.curve.points.length).toBeLessThan(32);
    await until(async () => (await slots()).every((s) => !s.is_processing));
  });

  it("measures the depths that are asked for, with generation at each of them", async () => {
    await until(async () => (await slots()).every((s) => !s.is_processing));
    const report = await runServerProbe(
      { url: server.url, budgetSeconds: 300, depths: [0, 1536, 512] },
      signal,
    );
    expect(report).toMatchObject({ ended: "finished", plannedTokens: 1536, warnings: [] });
    const { points, generation } = report.curve;
    expect(Math.max(...points.map((p) => p.depth + p.tokens))).toBe(1536);
    expect(new Set(generation.map(({ depth }) => depth))).toEqual(new Set([384, 512, 1536]));
    // the stop at 512 is not read again: three cold prompts begin at 0, and the repeat, which leaves no points
    expect(points.filter(({ depth }) => depth === 0)).toHaveLength(3);
  });

  it("refuses depths that are too dear or too deep before it reads them", async () => {
    await until(async () => (await slots()).every((s) => !s.is_processing));
    const measured: number[] = [];
    const ask = (depth: number): Promise<unknown> =>
      runServerProbe(
        {
          ...{ url: server.url, budgetSeconds: 20, depths: [0, depth] },
          onMeasured: ({ points }) => measured.push(points.length),
        },
        signal,
      );
    // a minute on an idle machine
    await expect(ask(16_000)).rejects.toThrow(/would take about .* Allow [\d,]+ s/);
    await expect(ask(126_000)).rejects.toThrow(/a slot of this server holds 16,384 tokens/);
    expect(measured).toEqual([]);
  });

  it("ends with its time, however slow the machine is", async () => {
    await until(async () => (await slots()).every((s) => !s.is_processing));
    const budgetSeconds = 8;
    const { ended, seconds, curve } = await runServerProbe({ url: server.url, budgetSeconds }, signal);
    expect(["finished", "budget"]).toContain(ended);
    // nothing it waits for lasts longer than 1.15 times the budget, the last look at the server 0.05; a second for a busy machine
    expect(seconds).toBeLessThan(1.2 * budgetSeconds + 1);
    expect(curve.points.length).toBeGreaterThanOrEqual(2);
  });

  it("keeps what it had when the server is killed", async () => {
    const other = await startSlopeServer();
    let killed = false;
    const report = await runServerProbe(
      {
        url: other.url,
        budgetSeconds: 60,
        maxDepth: 8192,
        onProgress: ({ phase, depth }) => {
          if (phase !== "measuring" || depth < 1024 || killed) return;
          killed = true;
          process.kill(other.pid, "SIGKILL");
        },
      },
      signal,
    );
    await other.stop();
    expect(report.ended).toBe("failed");
    expect(report.curve.points.length).toBeGreaterThanOrEqual(4);
    expect(report.warnings).toHaveLength(1);
  });

  it("is written down while it runs: its host may be killed, too", async () => {
    await until(async () => (await slots()).every((s) => !s.is_processing));
    const folder = await mkdtemp(path.join(os.tmpdir(), "probe-"));
    const host = await bundledProgram("probeServer");
    try {
      const running = execa(process.execPath, [host.file, server.url, folder], {
        reject: false,
        buffer: false,
      });
      await once(running.stdout, "data");
      const store = new HistoryStore(folder);
      await until(async () => (await store.read(signal)).records.length > 0);
      running.kill("SIGKILL");
      await running;
      const { records, broken } = await store.read(signal);
      expect(broken).toBeLessThanOrEqual(1);
      expect(records).toMatchObject([{ kind: "probe", ended: "unfinished" }]);
      // at least the two short prompts: 512 and 2048 tokens in batches of 256
      expect(records[0]?.curve?.points.length).toBeGreaterThanOrEqual(10);
      await until(async () => (await slots()).every((s) => !s.is_processing));
    } finally {
      await host.remove();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("says so where nobody listens and where the key is missing", async () => {
    await expect(runServerProbe({ url: "http://127.0.0.1:9" }, signal)).rejects.toThrow(UserError);
    const locked = await startLlamaServer({
      model: await forgedModel({ size: "tiny" }),
      args: ["-c", "4096", "-np", "1", "-t", "1", "--api-key", "secret"],
    });
    try {
      await expect(runServerProbe({ url: locked.url }, signal)).rejects.toMatchObject({
        reason: "unauthorized",
      });
    } finally {
      await locked.stop();
    }
  });
});

describe("requests of other clients", () => {
  it("are seen in /metrics with what they read and how long it took", async () => {
    const watched = await startLlamaServer({
      model: await forgedModel({ size: "tiny" }),
      args: ["-c", "4096", "-np", "1", "-t", "1", "--metrics"],
    });
    try {
      const counters = async (): Promise<PromptCounters> => {
        const found = readMetrics(await (await fetch(`${watched.url}/metrics`)).text());
        if (found === undefined) throw new Error("no counters");
        return found;
      };
      const ask = async (tokens: number): Promise<PromptTimings> => {
        const prompt = Array.from({ length: tokens }, (_, i) => 1000 + i);
        const response = await fetch(`${watched.url}/completion`, {
          method: "POST",
          body: JSON.stringify({ prompt, n_predict: 2 }),
          headers: { "content-type": "application/json" },
        });
        return ((await response.json()) as { timings: PromptTimings }).timings;
      };
      await ask(500);
      const before = await counters();
      const timings = await ask(1500);
      const seen = timingBetween(before, await counters());
      expect(timings.cache_n).toBeGreaterThan(400);
      expect(seen).toMatchObject({ tokens: timings.prompt_n, cached: timings.cache_n });
      expect(seen?.seconds).toBeCloseTo(timings.prompt_ms / 1000, 2);
    } finally {
      await watched.stop();
    }
  });
});

describe("a look at the server while somebody else uses it", () => {
  it("shows how far a prompt is, and times no more of it than it took", async () => {
    await until(async () => (await slots()).every((s) => !s.is_processing));
    const watch = new SlotWatch();
    const depths: number[] = [];
    const timings: RequestTiming[] = [];
    const prompt = prefill(server.url, 4096, 7);
    await until(async () => {
      const { slots: found = [], at } = await readServerActivity({ url: server.url, counters: true }, signal);
      const { reading, finished, busy } = watch.see(found, at);
      depths.push(...reading.map(({ progress }) => progress.at(-1)?.processed ?? 0));
      timings.push(...finished);
      return depths.length > 0 && !busy;
      // an answer comes between two batches, so none of them is missed, however fast they are
    }, 0);
    const told = await prompt;
    expect(depths).toEqual(depths.toSorted((p, q) => p - q));
    // some of its 16 batches, whole ones
    expect(new Set(depths).size).toBeGreaterThan(2);
    expect(depths.every((depth) => depth % 256 === 0 && depth <= told.prompt_n)).toBe(true);
    for (const timing of timings) {
      expect(timing.tokens).toBeLessThanOrEqual(told.prompt_n);
      expect(timing.seconds).toBeLessThanOrEqual(told.prompt_ms / 1000 + 1);
    }
  });

  it("gives nothing where the server does not tell, and never fails", async () => {
    const look = await readServerActivity({ url: "http://127.0.0.1:9", counters: true }, signal);
    expect(look.slots).toBeUndefined();
    expect(look.counters).toBeUndefined();
  });
});

async function slots(): Promise<readonly { readonly is_processing: boolean }[]> {
  return (await (await fetch(`${server.url}/slots`)).json()) as readonly {
    readonly is_processing: boolean;
  }[];
}

async function until(done: () => Promise<boolean>, pauseMs = 50): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await done())) {
    if (Date.now() > end) throw new Error("took too long");
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
