import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { commands, Uri, workspace } from "vscode";
import type { HistoryRecord } from "../../src/core/history/historyRecord";
import { forgedModel } from "../support/forge/forgeModel";
import { llamaCppFolder, startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";
import { repository } from "../support/repository";
import { activated, configure, diagnostic } from "./support";

const args = ["-c", "8192", "-np", "1", "-t", "1", "-tb", "1", "-b", "256", "-ub", "256"];
const probeSeconds = 10;
/** As the server's curve is keyed. */
const flags = "-b 256 -ub 256 -t 1";

/** Measured speed from the first probe to the export, in the order a user would go. */
describe("measured speed in the editor", function () {
  this.timeout(180_000);
  let server: LlamaServerProcess;
  let folder: string;
  let exported: string;

  before(async () => {
    await activated();
    folder = mkdtempSync(path.join(tmpdir(), "lg speed "));
    exported = path.join(folder, "history.json");
    server = await startLlamaServer({
      model: await forgedModel({ size: "slope", vocabulary: "qwen2_5" }),
      args,
    });
    await configure({
      "server.url": server.url,
      llamaCppFolder: await llamaCppFolder(),
      probeSeconds,
      showPanelOnEstimate: false,
    });
  });
  after(async () => {
    await configure({
      "server.url": undefined,
      llamaCppFolder: undefined,
      probeSeconds: undefined,
      showPanelOnEstimate: undefined,
    });
    await commands.executeCommand("workbench.action.closeAllEditors");
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The history as the export writes it, oldest first. */
  async function history(): Promise<readonly HistoryRecord[]> {
    const written = await commands.executeCommand("llamaGauge.exportHistory", exported);
    const records = JSON.parse(readFileSync(exported, "utf8")) as readonly HistoryRecord[];
    assert.equal(written, records.length);
    return records;
  }

  it("has nothing to compare or record before something was measured", async () => {
    assert.equal(await commands.executeCommand("llamaGauge.recordBaseline", "none"), undefined);
    assert.equal(await commands.executeCommand("llamaGauge.compareWithBaseline"), undefined);
  });

  it("probes the running server within its time, and the next estimate says how long the wait is", async () => {
    const readme = Uri.joinPath(workspace.workspaceFolders?.[0]?.uri ?? Uri.file(folder), "README.md");
    await commands.executeCommand("llamaGauge.estimate", readme, [readme]);
    assert.doesNotMatch(String(await diagnostic("Verdict")), /to first token/);
    const ended = await commands.executeCommand<string>("llamaGauge.runDepthProbe");
    assert.ok(["finished", "budget"].includes(ended), ended);
    assert.match(String(await diagnostic("Verdict")), /≈ .* to first token \(.* – .*\)/);
    const [record] = (await history()).slice(-1);
    assert.equal(record?.kind, "probe");
    assert.equal(record.curve?.key.flags, flags);
    assert.ok(record.curve.points.length >= 3);
    // nothing it waits for lasts longer than 1.15 times the setting, the last look at the server 0.05; a second for a busy machine
    assert.ok((record.seconds ?? Infinity) < 1.2 * probeSeconds + 1, String(record.seconds));
    assert.ok(record.monitor !== undefined && record.monitor.samples > 0);
  });

  it("keeps it as a baseline, and compares the same run with it", async () => {
    assert.equal(await commands.executeCommand("llamaGauge.recordBaseline", "first day"), "first day");
    const [baseline] = (await history()).slice(-1);
    assert.equal(baseline?.kind, "baseline");
    assert.equal(baseline.label, "first day");
    const change = await commands.executeCommand("llamaGauge.compareWithBaseline", baseline.id);
    assert.equal(change, 0);
  });

  it("compares KV cache types: answers and speed, one record, and no process is left", async () => {
    const kind = await commands.executeCommand<string>("llamaGauge.compareKvCacheTypes", {
      flag: "-ctk",
      values: ["f16", "q8_0"],
      depth: 256,
    });
    assert.ok(["faster", "slower", "noDifference", "cannotJudge"].includes(kind), kind);
    const [record] = (await history()).slice(-1);
    assert.equal(record?.kind, "comparison");
    assert.deepEqual(record.comparison?.values, ["f16", "q8_0"]);
    assert.ok((record.comparison.agreement?.of ?? 0) > 0, "the answers were not compared");
    const alive = processes().filter((line) => /llama-(bench|server)/.test(line) && line.includes(" q8_0"));
    assert.deepEqual(alive, []);
  });

  it("imports a bench's output for the history only, or for predictions where the user says so", async () => {
    const file = path.join(repository, "test/fixtures/speed/llama-bench.jsonl");
    const curves = await commands.executeCommand<number>("llamaGauge.importMeasurements", file, false);
    assert.ok(curves > 0);
    const [shown] = (await history()).slice(-1);
    assert.equal(shown?.kind, "import");
    assert.notEqual(shown.curve?.key.flags, flags);
    await commands.executeCommand("llamaGauge.importMeasurements", file, true);
    const [used] = (await history()).slice(-1);
    // the setup fills in what the table does not tell; its own options stay
    assert.equal(used?.curve?.key.flags, "-t 2");
    assert.match(used.curve.key.model, /slope.*\.gguf$/);
    // the answer is remembered: nobody is asked a second time
    await commands.executeCommand("llamaGauge.importMeasurements", file);
    const [again] = (await history()).slice(-1);
    assert.equal(again?.curve?.key.model, used.curve.key.model);
    assert.deepEqual(again.assumed?.missing, ["model"]);
    assert.equal(await commands.executeCommand("llamaGauge.changeAssumption", again.id, false), false);
    const changed = (await history()).find(({ id }) => id === again.id);
    assert.equal(changed?.curve?.key.model, shown.curve?.key.model);
  });

  it("exports Markdown and CSV by the file's name", async () => {
    for (const [name, start] of [
      ["history.md", "| kind | time |"],
      ["history.csv", "\ufeffid,kind,time,"],
    ] as const) {
      const file = path.join(folder, name);
      await commands.executeCommand("llamaGauge.exportHistory", file);
      assert.ok(existsSync(file) && readFileSync(file, "utf8").startsWith(start), name);
    }
  });
});

/** Command lines of this machine's processes, where the system tells them. */
function processes(): readonly string[] {
  if (!existsSync("/proc/self/cmdline")) return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      } catch {
        return "";
      }
    });
}
