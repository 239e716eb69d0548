import { readFile, readdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inject, it } from "vitest";
import { openWorkbench, type Workbench } from "../ui/support/workbench";

/** What the installed extension costs a window in which nobody uses it, against the same window without it. */

const rounds = 3;
const settleSeconds = 20;
const watchSeconds = 30;
const MiB = 2 ** 20;

interface Figures {
  readonly memoryBytes: number;
  readonly processes: number;
  readonly cpuSeconds: number;
  readonly activation: string;
}

it("prints what the extension costs while it is idle", async () => {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const without: Figures[] = [];
  const withIt: Figures[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      without.push(await measure([], url));
      withIt.push(await measure([inject("vsix")], url));
    }
  } finally {
    server.close();
  }
  const memory = difference(withIt, without, ({ memoryBytes }) => memoryBytes) / MiB;
  const cpu = (1000 * difference(withIt, without, ({ cpuSeconds }) => cpuSeconds)) / watchSeconds;
  console.log(
    [
      `activation, as VS Code reports it        ${withIt.map(({ activation }) => activation).join(", ")}`,
      `extra memory of the extension's host     ${memory.toFixed(1)} MiB (median of ${rounds}; proportional set size, ${settleSeconds} s after the start)`,
      `extra processes                          ${difference(withIt, without, ({ processes }) => processes)}`,
      `extra processor time while idle          ${cpu.toFixed(2)} ms per second over ${watchSeconds} s`,
      `requests to the configured llama-server  ${requests}`,
    ].join("\n"),
  );
});

const difference = (a: readonly Figures[], b: readonly Figures[], of: (figures: Figures) => number): number =>
  median(a.map(of)) - median(b.map(of));

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

async function measure(vsix: readonly string[], url: string): Promise<Figures> {
  const workbench = await openWorkbench({ vsix, settings: { "llamaGauge.server.url": url } });
  try {
    if (vsix.length > 0) await workbench.statusBarItem().waitFor();
    await pause(settleSeconds);
    const host = await extensionHost(workbench.server.pid);
    const processes = await withDescendants(host);
    const memory = await Promise.all(processes.map(proportionalBytes));
    const before = await cpuSeconds(host);
    await pause(watchSeconds);
    const after = await cpuSeconds(host);
    return {
      memoryBytes: memory.reduce((sum, bytes) => sum + bytes, 0),
      processes: processes.length,
      cpuSeconds: after - before,
      activation: vsix.length > 0 ? await activation(workbench) : "",
    };
  } finally {
    await workbench.close();
  }
}

/** "Activation: 12ms" of the running extension. */
async function activation(workbench: Workbench): Promise<string> {
  await workbench.runCommand("Developer: Show Running Extensions");
  const row = workbench.page.locator(".runtime-extensions-editor .monaco-list-row", {
    hasText: "Llama Gauge",
  });
  return (await row.locator(".activation-time").innerText()).replace(/^.*?: /, "");
}

const pause = (seconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, 1000 * seconds));

async function extensionHost(server: number): Promise<number> {
  for (const pid of await withDescendants(server)) {
    if ((await readFile(`/proc/${pid}/cmdline`, "utf8")).includes("--type=extensionHost")) return pid;
  }
  throw new Error("no extension host");
}

async function withDescendants(root: number): Promise<readonly number[]> {
  const parents = new Map<number, number>();
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const status = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
    parents.set(Number(name), Number(status.slice(status.lastIndexOf(")") + 2).split(" ")[1]));
  }
  const found = [root];
  for (const pid of found) for (const [child, parent] of parents) if (parent === pid) found.push(child);
  return found;
}

async function proportionalBytes(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "utf8");
  return 1024 * Number(/^Pss: +(\d+) kB/m.exec(rollup)?.[1]);
}

/** Of a process and all it has started. */
async function cpuSeconds(root: number): Promise<number> {
  const ticks = await Promise.all(
    (await withDescendants(root)).map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
      const [user, system] = stat
        .slice(stat.lastIndexOf(")") + 2)
        .split(" ")
        .slice(11, 13);
      return Number(user ?? 0) + Number(system ?? 0);
    }),
  );
  return ticks.reduce((sum, value) => sum + value, 0) / 100;
}
