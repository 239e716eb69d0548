import { appendFile, cp, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { inject, it } from "vitest";
import { forgedModel } from "../support/forge/forgeModel";
import { startLlamaServer } from "../support/llamaCpp";
import { repository } from "../support/repository";
import { extensionLog } from "../support/vscodeHost/extensionLog";
import { openWorkbench, type Workbench } from "../ui/support/workbench";

/**
 * Seconds from a command to the verdict in the status bar, in a window of the real editor with the packaged extension and
 * a real llama-server with a whole vocabulary: 500 source files, nothing of them known, then again. Read by the window's own
 * clock, from the key that runs the command to the change of the status bar.
 */

const files = 500;
const rounds = Number(process.env["VERDICT_ROUNDS"] ?? 3);
const estimate = "Llama Gauge: Estimate Workspace";
const refresh = "Llama Gauge: Refresh Estimate";

interface Round {
  readonly first: number;
  readonly again: number;
  readonly edited: number;
  readonly load: string;
  readonly log: string;
}

it("prints how long a verdict takes", async () => {
  const model = await forgedModel({ vocabulary: "qwen2_5" });
  const server = await startLlamaServer({ model, args: ["-c", "65536", "-np", "1", "-t", "1"] });
  const found: Round[] = [];
  try {
    for (let round = 0; round < rounds; round++) found.push(await measure(server.url));
  } finally {
    await server.stop();
  }
  const row = (name: string, of: (round: Round) => number): string =>
    `${name.padEnd(44)}${found.map((round) => of(round).toFixed(2)).join("  ")} s`;
  console.log(
    [
      row(`first verdict, ${String(files)} files, nothing known`, ({ first }) => first),
      row("the next, nothing changed (asks server again)", ({ again }) => again),
      row("the next after an edit of one file", ({ edited }) => edited),
      `load of the machine: ${found.map(({ load }) => load).join(" | ")}`,
      ...found.map(({ log }) => log),
    ].join("\n"),
  );
});

async function measure(url: string): Promise<Round> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "verdict-"));
  await sources(folder);
  const workbench = await openWorkbench({
    vsix: [inject("vsix")],
    open: folder,
    settings: { "llamaGauge.server.url": url },
  });
  try {
    await workbench.statusBarItem().waitFor();
    await watch(workbench);
    const first = await seconds(workbench, estimate);
    const again = await seconds(workbench, refresh);
    const again2 = await seconds(workbench, refresh);
    await appendFile(path.join(folder, "0.ts"), "\nexport const added = 1;\n");
    const edited = await seconds(workbench, refresh);
    const log = (await extensionLog(workbench.server.userDataDir))
      .split("\n")
      .filter((line) => /Estimated/.test(line));
    const [load = 0] = os.loadavg();
    return { first, again: Math.min(again, again2), edited, load: load.toFixed(1), log: log.join("\n") };
  } finally {
    await workbench.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** 500 files of this repository's sources, as they are. */
async function sources(folder: string): Promise<void> {
  const names = (
    await Promise.all(
      ["src", "test"].map(async (part) =>
        (await readdir(path.join(repository, part), { recursive: true })).map((name) =>
          path.join(part, name),
        ),
      ),
    )
  )
    .flat()
    .filter((name) => name.endsWith(".ts"))
    .sort()
    .slice(0, files);
  await mkdir(folder, { recursive: true });
  await Promise.all(
    names.map((name, at) => cp(path.join(repository, name), path.join(folder, `${String(at)}.ts`))),
  );
}

interface Watched {
  enterAt?: number;
  verdictAt?: number;
}

/** The last Enter, and the first verdict after it. */
async function watch(workbench: Workbench): Promise<void> {
  await workbench.page.evaluate(() => {
    const seen: Watched = {};
    (globalThis as { verdictSeen?: Watched }).verdictSeen = seen;
    addEventListener(
      "keydown",
      ({ key }) => {
        if (key !== "Enter") return;
        seen.enterAt = performance.now();
        delete seen.verdictAt;
      },
      true,
    );
    const item = '[id="llama-gauge.llama-gauge.llamaGauge.status"]';
    let counting = false;
    new MutationObserver(() => {
      const shown = document.querySelector(item);
      if (shown?.querySelector(".codicon-loading") !== null) counting = true;
      else if (/ tokens/.test(shown.textContent) && (counting || seen.verdictAt === undefined)) {
        counting = false;
        seen.verdictAt = performance.now();
      }
    }).observe(document.body, {
      subtree: true,
      childList: true,
      characterData: true,
      attributes: true,
    });
  });
}

async function seconds(workbench: Workbench, command: string): Promise<number> {
  await workbench.runCommand(command);
  const took = await workbench.page.waitForFunction(() => {
    const { enterAt, verdictAt } = (globalThis as { verdictSeen?: Watched }).verdictSeen ?? {};
    return enterAt !== undefined && verdictAt !== undefined && performance.now() - verdictAt > 1500
      ? verdictAt - enterAt
      : undefined;
  });
  return ((await took.jsonValue()) as number) / 1000;
}
