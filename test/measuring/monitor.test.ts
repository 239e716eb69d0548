import { execa } from "execa";
import { describe, expect, it } from "vitest";
import type { MonitorReport } from "../../src/core/monitor/monitorSample";
import { bundledProgram } from "../support/bundled";
import { slowness } from "../support/slowness";

/** A process that computes and nothing else, and whose name can be recognised. */
function startHog() {
  return execa(process.execPath, ["-e", "for (;;) Math.sqrt(Math.random());"], {
    argv0: "the-hog",
    reject: false,
  });
}

describe("the watch over this machine", () => {
  it("names a process that takes the CPU, unless it is the measured one", async () => {
    const hog = startHog();
    const program = await bundledProgram("watchMachine");
    try {
      const watch = async (role: string): Promise<MonitorReport> => {
        const { stdout } = await execa(process.execPath, [program.file, role, String(hog.pid)]);
        return JSON.parse(stdout) as MonitorReport;
      };
      // the three busiest are named: on a machine that others use, too, this one is not among them every time
      let found = false;
      for (let tries = 0; tries < 8 && !found; tries++) {
        const [foreign, measured] = await Promise.all([watch("foreign"), watch("measured")]);
        expect(foreign.verdict).toBe("contaminated");
        expect(named(measured, "the-hog")).toBe(false);
        found = named(foreign, "the-hog");
      }
      expect(found).toBe(true);
    } finally {
      hog.kill("SIGKILL");
      await program.remove();
    }
  });

  it("costs less than 1 % of one core", async () => {
    const program = await bundledProgram("costOfWatching");
    try {
      let least = Infinity;
      // the least of some tries: what shares a core with others takes more of its time
      for (let tries = 0; tries < 3 && least >= 0.01 * slowness(); tries++) {
        const { stdout } = await execa(process.execPath, [program.file]);
        expect(Number(stdout)).toBeGreaterThan(0);
        least = Math.min(least, Number(stdout));
      }
      expect(least).toBeLessThan(0.01 * slowness());
    } finally {
      await program.remove();
    }
  }, 120_000);
});

function named(report: MonitorReport, name: string): boolean {
  return report.events.some((event) => "who" in event && event.who.some((p) => p.name.includes(name)));
}
