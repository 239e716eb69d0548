import { monitorEventLoopDelay } from "node:perf_hooks";
import { countFiles } from "../../src/core/tokens/countFiles";
import { assumedTokenizer } from "../../src/core/tokens/estimateTokens";
import { defaultWalkOptions } from "../../src/core/files/files";
import { openCountCache } from "../../src/node/tokenizer/countCache";
import { openGgufTokenizer } from "../../src/node/tokenizer/ggufTokenizer";
import { workspaceFiles } from "../../src/node/files/workspaceFiles";

/** What is done with a tree: exact counts start without kept ones, `again` is the second count of the same process. */
export type WorkspaceJob = "walk" | "read" | "assumed" | "exact" | "again";

export interface JobResult {
  readonly files: number;
  readonly bytes: number;
  readonly tokens: number;
  readonly wall: number;
  readonly cpu: number;
  /** Longest time this thread was held, in milliseconds. */
  readonly hold: number;
}

export async function workspaceJob(
  job: WorkspaceJob,
  folder: string,
  { model, workerFile, cacheFolder }: Readonly<Record<"model" | "workerFile" | "cacheFolder", string>>,
): Promise<JobResult> {
  const { signal } = new AbortController();
  const files = workspaceFiles();
  const options = { ...defaultWalkOptions, maxFileBytes: 2 ** 30 };
  const exact = job === "exact" || job === "again";
  const tokenizer = exact
    ? await openGgufTokenizer(model, { signal, workerFile, cacheDir: cacheFolder })
    : assumedTokenizer(files.pause);
  const cache = exact ? await openCountCache({ folder: cacheFolder, fingerprint: "bench" }) : undefined;
  const count = () => {
    const parts = { files, tokenizer, clock: Date, ...(cache && { cache }) };
    return countFiles(parts, { roots: [folder], options }, () => undefined, signal);
  };
  if (job === "again") await count();

  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const cpu = process.cpuUsage();
  const started = performance.now();
  let [found, bytes, tokens] = [0, 0, 0];
  if (job === "walk" || job === "read") {
    for await (const listed of files.list([folder], options, signal)) {
      if (listed.kind !== "file") continue;
      found++;
      bytes += listed.file.bytes;
      if (job === "read") await files.read(listed.file, signal);
    }
  } else {
    const result = await count();
    found = result.files.length;
    bytes = result.files.reduce((sum, { file }) => sum + file.bytes, 0);
    tokens = result.tokens;
  }
  const wall = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return { files: found, bytes, tokens, wall, cpu: (user + system) / 1e6, hold: delay.max / 1e6 };
}
