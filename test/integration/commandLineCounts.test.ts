import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cliJson, runCli } from "../support/cli";
import { bytePairs } from "../support/vocabularies/sensitiveVocabularies";
import { writeVocabularyModel } from "../support/vocabularyModel";

// What `llama-gauge count` keeps between runs, and what it warns of.
let folder: string;
let model: string;
let env: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-cli-counts-"));
  model = await writeVocabularyModel(folder, bytePairs("gpt-4o"));
  const cache = path.join(folder, "cache");
  env = { XDG_CACHE_HOME: cache, LOCALAPPDATA: cache };
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** An hour old: what was written just now is not known by its time. */
async function put(name: string, text: string): Promise<void> {
  const file = path.join(folder, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
  const time = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 - 3_600_000);
  await utimes(file, time, time);
}

interface Counted {
  readonly tokens: number;
  readonly files: readonly { readonly path: string; readonly tokens: number }[];
  readonly warnings: readonly string[];
}

const count = async (name: string, ...more: readonly string[]): Promise<Counted> => {
  const args = ["count", path.join(folder, name), "--model", model, ...more];
  return (await cliJson(args, { env })) as Counted;
};

describe("counts of the command line", () => {
  it("are kept between runs, and counted again where that is asked for or the files of ours are damaged", async () => {
    await put("kept/a.txt", "one two three");
    const first = await count("kept");
    // same size, same time: only a count that is kept can be the same
    await put("kept/a.txt", "1 2 3 4 5 6 7");
    expect((await count("kept")).tokens).toBe(first.tokens);
    const fresh = await count("kept", "--no-cache");
    expect(fresh.tokens).not.toBe(first.tokens);

    const counts = path.join(folder, "cache/llama-gauge/counts");
    const [file] = await readdir(counts);
    if (file === undefined) throw new Error("nothing was kept");
    for (const damage of ["", "\0\0\0", '{"llamaGaugeCounts":99}\n["of tomorrow"]\n']) {
      await put("kept/a.txt", "one two three");
      await writeFile(path.join(counts, file), damage);
      expect((await count("kept")).tokens).toBe(first.tokens);
      await put("kept/a.txt", "1 2 3 4 5 6 7");
      expect((await count("kept")).tokens).toBe(first.tokens);
    }
  });

  it("name files that may crash llama-server, in JSON and in words", async () => {
    await put("risky/run.txt", `one\n1${"=".repeat(25_000)}2\n`);
    await put("risky/words.txt", "nothing to fear\n");
    const counted = await count("risky");
    expect(
      counted.files.map(({ path: label, ...rest }) => [label, "longRun" in rest && rest.longRun]),
    ).toEqual([
      ["run.txt", { line: 2, length: 25_000 }],
      ["words.txt", false],
    ]);
    expect(counted.warnings[0]).toContain("run.txt, line 2: 25,000 characters of one kind");
    const { stdout } = await runCli(["count", path.join(folder, "risky"), "--model", model], { env });
    expect(stdout).toContain("! run.txt, line 2: 25,000 characters");
  });
});
