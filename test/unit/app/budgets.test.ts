import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MemoryReport } from "../../../src/core/memory/budget/memoryReport";
import { modelOf } from "../../../src/core/model/modelOf";
import { gatherBudgets } from "../../../src/app/budgets";
import { FitProbe } from "../../../src/node/machine/fitProbe";
import { headers } from "../core/memory/fixtures";

const header = headers().get("llama-3.1-8b-q4_k_m.gguf");
if (header === undefined) throw new Error("no header");
const model = modelOf(header);
const launch = { ctxSize: 8192, parallel: 1 };
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-estimate-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The budget beside a stand-in for llama-fit-params. */
async function budgetWith(name: string, script: string, probePatience?: number): Promise<MemoryReport> {
  const programs = path.join(folder, name);
  await mkdir(programs);
  const program = path.join(programs, "llama-fit-params");
  await writeFile(program, `#!/bin/sh\n${script}\n`);
  await chmod(program, 0o755);
  const setup = {
    devices: [],
    programs: { folder: programs },
    fitProbe: new FitProbe(),
    ...(probePatience !== undefined && { probePatience }),
  };
  const controller = new AbortController();
  const budgets = await gatherBudgets(
    setup,
    { model, path: "/m.gguf" },
    launch,
    undefined,
    controller.signal,
  );
  controller.abort();
  return budgets.of(launch);
}

describe.skipIf(process.platform === "win32")("budgets beside llama-fit-params", () => {
  it("say what it refused, and stand as computed", async () => {
    const report = await budgetWith("refuses", "echo '0.1 E Unsupported cache type: q9_9' >&2; exit 1");
    expect(report.source).toBe("computed");
    const [warning] = report.warnings.filter(({ code }) => code === "probeFailed");
    expect(warning?.message.args.length).toBeGreaterThan(0);
    expect(JSON.stringify(warning)).toContain("Unsupported cache type: q9_9");
  });

  it("do not wait for it longer than they are told", async () => {
    const report = await budgetWith("hangs", "exec sleep 60", 100);
    expect(report.source).toBe("computed");
    expect(report.warnings.map(({ code }) => code)).not.toContain("probeFailed");
  });

  it("are its figures where it answers", async () => {
    const report = await budgetWith("answers", "echo 'Host 5000 1024 300'");
    expect(report.source).toBe("reported");
    expect(report.computed?.source).toBe("computed");
    expect((report.devices[0]?.modelBytes ?? 0) / 2 ** 20).toBeCloseTo(5000.5, 0);
  });
});
