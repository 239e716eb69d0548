import { describe, expect, it } from "vitest";
import type { SystemSnapshot } from "../../../../src/core/monitor/systemSnapshot";
import { formatText } from "../../../../src/core/format";
import { eventText } from "../../../../src/core/monitor/interference";
import { startMonitor, type PlatformSystem } from "../../../../src/node/monitor/monitor";

const signal = new AbortController().signal;

/** A quiet machine whose clock the test sets: one look a "second", whatever the real time. */
function machine(at: (look: number) => number, from = 0): PlatformSystem & { readonly looks: () => number } {
  let look = 0;
  return {
    looks: () => look,
    snapshot: () => {
      const snapshot: SystemSnapshot = {
        at: at(look),
        processes: [{ pid: 1, parent: 0, name: "init", cpuSeconds: 0 }],
        busySeconds: from,
      };
      look++;
      return Promise.resolve(snapshot);
    },
    close: () => undefined,
  };
}

async function watch(at: (look: number) => number) {
  const system = machine(at);
  const monitor = startMonitor({ intervalSeconds: 0.001, system });
  await monitor.baseline(3, signal);
  while (system.looks() < 12) await new Promise((resolve) => setTimeout(resolve, 1));
  return monitor.stop();
}

describe("the watch when the clock does not run evenly", () => {
  it("calls ten minutes of sleep a drift, and says when and how long", async () => {
    const report = await watch((look) => look / 1000 + (look >= 8 ? 600 : 0));
    expect(report.verdict).toBe("drift");
    expect(report.events).toMatchObject([{ kind: "slept" }]);
    expect(report.events.map((event) => formatText(eventText(event)))[0]).toMatch(
      /^Nothing ran for 10\.0 min at .*: the machine slept or its clock jumped$/,
    );
  });

  it("calls a clock that was set back a drift, too", async () => {
    const report = await watch((look) => look / 1000 - (look >= 8 ? 3600 : 0));
    expect(report.verdict).toBe("drift");
    expect(report.events).toMatchObject([{ kind: "slept" }]);
  });

  it("is clean where nothing happens", async () => {
    expect((await watch((look) => look / 1000)).verdict).toBe("clean");
  });
});
