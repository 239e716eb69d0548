import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HistoryStore } from "../../../src/app/historyStore";
import { importRuns } from "../../../src/app/measurements";

const table = `| model | backend | threads | test | t/s |
| --- | --- | ---: | ---: | ---: |
| llama 1B | CPU | 2 | pp512 @ d4096 | 256.00 ± 1.00 |

build: abc1234 (5000)
`;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "speed-history-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("an import", () => {
  it.each([
    ["UTF-8", Buffer.from(table)],
    ["UTF-8 with a mark", Buffer.from(`\ufeff${table}`)],
    ["UTF-16, as PowerShell's > writes it", Buffer.from(`\ufeff${table}`, "utf16le")],
  ])("reads %s, and is in the history afterwards", async (name, bytes) => {
    const file = path.join(folder, "bench.md");
    await writeFile(file, bytes);
    const history = new HistoryStore(path.join(folder, name));
    const { signal } = new AbortController();
    await importRuns(history, file, undefined, signal);
    expect((await history.read(signal)).records).toMatchObject([
      {
        kind: "import",
        curve: { key: { build: "abc1234 (5000)" }, points: [{ depth: 4096, tokens: 512, seconds: 2 }] },
      },
    ]);
  });
});
