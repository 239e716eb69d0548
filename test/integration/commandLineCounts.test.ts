import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readLine, writeLine } from "../../src/node/tokenizer/countCacheLines";
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
    const counts = path.join(folder, "cache/llama-gauge/counts");
    const first = await count("kept");
    // what was written just now is not kept yet
    const kept = async (): Promise<readonly string[]> => {
      await count("kept");
      const [name] = await readdir(counts).catch(() => []);
      return name === undefined ? [] : [name];
    };
    await expect.poll(kept, { interval: 500 }).toHaveLength(1);
    const [file = ""] = await kept();
    // a wrong count shows that it is the kept one
    const lines = (await readFile(path.join(counts, file), "utf8")).split("\n").map((text) => {
      const line = readLine(text);
      if (line?.kind === "prompt") return writeLine({ ...line, tokens: line.tokens + 90 }).trimEnd();
      if (line?.kind !== "file" || line.kept.kind !== "counted") return text;
      return writeLine({ ...line, kept: { ...line.kept, tokens: line.kept.tokens + 90 } }).trimEnd();
    });
    await writeFile(path.join(counts, file), lines.join("\n"));
    expect((await count("kept")).tokens).toBe(first.tokens + 90);
    expect((await count("kept", "--no-cache")).tokens).toBe(first.tokens);
    // the same size and time, other text
    await put("kept/a.txt", "1 2 3 4 5 6 7");
    expect((await count("kept")).tokens).not.toBe(first.tokens);
    const fresh = await count("kept", "--no-cache");

    for (const damage of ["", "\0\0\0", '{"llamaGaugeCounts":99}\n["of tomorrow"]\n']) {
      await put("kept/a.txt", "one two three");
      await writeFile(path.join(counts, file), damage);
      expect((await count("kept")).tokens).toBe(first.tokens);
      await put("kept/a.txt", "1 2 3 4 5 6 7");
      expect((await count("kept")).tokens).toBe(fresh.tokens);
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
