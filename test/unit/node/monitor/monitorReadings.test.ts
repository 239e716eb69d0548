import { describe, expect, it } from "vitest";
import { sampleBetween } from "../../../../src/core/monitor/systemSnapshot";
import type { SystemSnapshot } from "../../../../src/core/monitor/systemSnapshot";
import { parsePmon } from "../../../../src/node/monitor/monitorNvidia";
import { parsePs } from "../../../../src/node/monitor/monitorPs";
import { parseWindowsReading } from "../../../../src/node/monitor/monitorWindows";

describe("what ps says on macOS", () => {
  it("is taken apart: minutes, hours, days, names with spaces", () => {
    const text = [
      "    1     0 312:04.55 /sbin/launchd",
      "  512     1   1:02:03.50 /Applications/Visual Studio Code.app/Contents/MacOS/Code Helper",
      "  600     1 2-01:00:00 /usr/local/bin/llama-server",
      "garbage",
    ].join("\n");
    expect(parsePs(text)).toEqual([
      { pid: 1, parent: 0, cpuSeconds: 312 * 60 + 4.55, name: "launchd" },
      { pid: 512, parent: 1, cpuSeconds: 3723.5, name: "Code Helper" },
      { pid: 600, parent: 1, cpuSeconds: 2 * 86400 + 3600, name: "llama-server" },
    ]);
  });
});

describe("what Windows says", () => {
  const line = JSON.stringify({
    processes: ["0 0 99999 System Idle Process", "10 4 25000000 llama-server.exe", "11 4 5000000 Code.exe"],
    freeKiB: 1024,
    battery: 1,
    gpu: [
      "pid_10_luid_0x0_0x1_phys_0_eng_0_engtype_Compute 90",
      "pid_11_luid_0x0_0x1_phys_0_eng_0_engtype_3D 12",
    ],
  });

  it("is CPU in units of 100 ns and GPU by process", () => {
    expect(parseWindowsReading(line, 5, [10])).toEqual({
      at: 5,
      processes: [
        { pid: 10, parent: 4, cpuSeconds: 2.5, name: "llama-server" },
        { pid: 11, parent: 4, cpuSeconds: 0.5, name: "Code" },
      ],
      foreignGpu: 0.12,
      gpuBusiest: [{ pid: 11, name: "Code", share: 0.12 }],
      freeMemoryBytes: 1024 * 1024,
      onBattery: true,
    });
  });

  it("is nothing where the line is none", () => {
    expect(parseWindowsReading("Get-CimInstance : Zugriff verweigert", 5, [])).toEqual({
      at: 5,
      processes: [],
    });
  });
});

describe("what nvidia-smi pmon says", () => {
  it("is the share of each process, and nothing for idle GPUs and headers", () => {
    expect(parsePmon("# gpu         pid   type     sm    mem    enc    dec    command")).toBeUndefined();
    expect(parsePmon("    0          -     -      -      -      -      -    -")).toBeUndefined();
    expect(parsePmon("    1      51234     C     97     33      -      -    llama-server")).toEqual({
      gpu: 1,
      pid: 51234,
      share: 0.97,
      name: "llama-server",
    });
    expect(parsePmon("    0       1402     G      -      -      -      -    Xorg")?.share).toBe(0);
  });
});

describe("what happened between two readings", () => {
  const process = (pid: number, parent: number, cpuSeconds: number, name: string) => ({
    pid,
    parent,
    cpuSeconds,
    name,
  });
  const before: SystemSnapshot = {
    at: 100,
    busySeconds: 50,
    stolenSeconds: 1,
    processes: [process(1, 0, 5, "init"), process(20, 1, 10, "llama-bench"), process(30, 1, 0, "node")],
  };
  const after: SystemSnapshot = {
    at: 110,
    busySeconds: 50 + 19,
    stolenSeconds: 2,
    processes: [
      process(1, 0, 5, "init"),
      process(20, 1, 20, "llama-bench"),
      process(21, 20, 2, "worker of it"),
      process(30, 1, 1, "node"),
      process(40, 1, 4, "llama-server"),
    ],
  };
  const watch = { measured: [20], own: 30, logicalCpus: 4, start: 100 };

  it("leaves out what is measured, its children and ourselves, and names the rest", () => {
    const sample = sampleBetween(before, after, watch);
    // 19 s were used; 13 by us and the measured program, 4 by a server, 2 by what is gone; 1 s went to the host.
    expect(sample.at).toBe(10);
    expect(sample.foreignCpu).toBeCloseTo(7 / 40, 9);
    expect(sample.busiest?.map((p) => [p.name, Math.round(p.cpu * 400)])).toEqual([
      ["llama-server", 40],
      ["short-lived processes", 20],
      ["other guests of the host", 10],
    ]);
    expect(sample.otherLlama).toEqual([{ pid: 40, name: "llama-server" }]);
  });

  it("counts what this process started besides, such as an editor's language servers, with the others", () => {
    const compiler = process(50, 30, 6, "tsserver");
    const sample = sampleBetween(
      { ...before, processes: [...before.processes, process(50, 30, 0, "tsserver")] },
      { ...after, busySeconds: 50 + 25, processes: [...after.processes, compiler] },
      watch,
    );
    expect(sample.foreignCpu).toBeCloseTo(13 / 40, 9);
    expect(sample.busiest?.[0]).toMatchObject({ name: "tsserver" });
  });
});
