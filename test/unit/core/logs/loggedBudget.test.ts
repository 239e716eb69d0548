import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { explainLog } from "../../../../src/core/logs/explainLog";
import { loggedBudget } from "../../../../src/core/logs/loggedBudget";

const log = (name: string): string =>
  readFileSync(path.join(import.meta.dirname, "../../../fixtures/logs", name), "utf8");
const MiB = 2 ** 20;

describe("the budget in a server's log", () => {
  it("is by device, with everything of the host in one row", () => {
    const rows = loggedBudget(explainLog(log("llama31-70b-rpc-b6209.log")).facts);
    const printed = rows?.map(({ name, modelBytes, contextBytes, computeBytes }) => [
      name,
      ...[modelBytes, contextBytes, computeBytes].map((bytes) => Number((bytes / MiB).toFixed(2))),
    ]);
    expect(printed).toEqual([
      ["RPC[172.31.27.42:50052]", 18_821.56, 656, 588.01],
      ["RPC[172.31.20.38:50052]", 18_725.42, 624, 588.01],
      ["Host", 563.62, 0, 28.01],
    ]);
  });

  it("is not there where the log does not say", () => {
    expect(loggedBudget(explainLog("srv  llama_server: listening\n").facts)).toBeUndefined();
  });
});
