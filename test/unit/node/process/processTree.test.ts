import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startDialogue } from "../../../../src/node/process/dialogue";
import { runTool } from "../../../../src/node/process/runTool";
import { bundledProgram } from "../../../support/bundled";
import { isRunning } from "../../../support/isRunning";

/** A program that starts others, which hold on to its output and do not end by themselves. */

const never = new AbortController().signal;
let folder: string;
let tree: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-tree-"));
  tree = path.join(folder, "tree.sh");
  await writeFile(
    tree,
    ['sleep 600 & echo "$! $$" > "$1"', "trap '' TERM INT HUP", "sleep 600", ""].join("\n"),
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function pidsIn(file: string): Promise<readonly number[]> {
  let pids: readonly number[] = [];
  await expect
    .poll(async () => {
      pids = (await readFile(file, "utf8").catch(() => "")).trim().split(" ").map(Number);
      return pids;
    })
    .toHaveLength(2);
  return pids;
}

const gone = (pids: readonly number[]): Promise<void> =>
  expect.poll(() => pids.filter(isRunning)).toEqual([]);

describe.skipIf(process.platform === "win32")("a program and what it started", () => {
  it("ends with the time limit, whatever it ignores, and is not waited for", async () => {
    const file = path.join(folder, "limit");
    const run = await runTool("sh", [tree, file], { milliseconds: 1500 }, never);
    expect(run).toMatchObject({ timedOut: true });
    await gone(await pidsIn(file));
  });

  it("ends with a cancel", async () => {
    const file = path.join(folder, "cancel");
    const cancel = new AbortController();
    const run = runTool("sh", [tree, file], { milliseconds: 600_000 }, cancel.signal);
    const pids = await pidsIn(file);
    cancel.abort(new Error("cancelled"));
    await expect(run).rejects.toThrow("cancelled");
    await gone(pids);
  });

  it("ends where it writes too much", async () => {
    const file = path.join(folder, "much");
    const script = 'sleep 600 >/dev/null 2>&1 & echo "$! $$" > "$1"; yes';
    const run = await runTool(
      "sh",
      ["-c", script, "sh", file],
      { milliseconds: 600_000, maxBytes: 1e5 },
      never,
    );
    expect(run.tooMuch).toBe(true);
    await gone(await pidsIn(file));
  });

  it("ends with the process that started it, even one that is killed", async () => {
    const file = path.join(folder, "killed");
    const host = await bundledProgram("runTool");
    const running = execa(process.execPath, [host.file, tree, file], { reject: false });
    const pids = await pidsIn(file);
    running.kill("SIGKILL");
    await running;
    await gone(pids);
    await host.remove();
  });

  it("says how it ended by itself", async () => {
    const limits = { milliseconds: 60_000 };
    expect(await runTool("sh", ["-c", "echo out; echo err >&2; exit 3"], limits, never)).toMatchObject({
      ...{ stdout: "out", stderr: "err", exitCode: 3, timedOut: false, tooMuch: false },
    });
    expect(await runTool("/nowhere/tool", [], limits, never)).toMatchObject({
      code: "ENOENT",
      timedOut: false,
    });
  });

  it("answers line by line, until it has ended", async () => {
    const dialogue = startDialogue("sh", ["-c", 'while read -r line; do echo "<$line>"; done'], 60_000);
    expect(await dialogue.ask("one")).toBe("<one>");
    expect(await dialogue.ask("two")).toBe("<two>");
    dialogue.close();
    expect(await dialogue.ask("three")).toBeUndefined();
    const ended = startDialogue("sh", ["-c", "exit 0"], 60_000);
    expect(await ended.ask("one")).toBeUndefined();
    const missing = startDialogue("/nowhere/tool", [], 60_000);
    expect(await missing.ask("one")).toBeUndefined();
  });
});
