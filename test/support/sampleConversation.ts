import { readFileSync } from "node:fs";
import path from "node:path";
import { LedgerReader } from "../../src/core/conversation/ledger";
import { logCurves } from "../../src/core/conversation/logCurve";
import { shownConversation, type ShownConversation } from "../../src/core/conversation/shownConversation";
import { serverKey } from "../../src/core/conversation/source";
import { repository } from "./repository";

const folder = path.join(repository, "test/fixtures/logs/conversation");

/** What the surfaces show of a real log up to the line with these words, as if that had just been written. */
export function conversationOfLog(name: string, upTo?: string): ShownConversation {
  const reader = new LedgerReader();
  for (const line of readFileSync(path.join(folder, `${name}.log`), "utf8").split("\n")) {
    reader.readText(line);
    if (upTo !== undefined && line.includes(upTo)) break;
  }
  const ledger = reader.result();
  const server = ledger.servers.at(-1);
  const now = Date.UTC(2026, 10, 26, 12, 30);
  const begun = now - 1000 * (server?.lastSeconds ?? 0);
  return shownConversation(
    {
      source: { kind: "commandLine", file: `/var/log/${name}.log`, url: "http://127.0.0.1:9931" },
      ledger,
      startedAt: new Map(server === undefined ? [] : [[serverKey(server), begun]]),
    },
    { now, curveOf: () => logCurves(ledger).at(-1) },
  );
}
