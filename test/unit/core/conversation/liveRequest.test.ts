import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { LedgerReader } from "../../../../src/core/conversation/ledger";
import { liveRequest } from "../../../../src/core/conversation/liveRequest";
import { median } from "../../../../src/core/median";
import { livePrefillText, type LivePrefill } from "../../../../src/core/prefill/livePrefill";
import { formatText } from "../../../../src/core/format";

const folder = path.join(import.meta.dirname, "../../../fixtures/logs/conversation");
const names = readdirSync(folder).filter((name) => name.endsWith(".log"));

interface Look {
  readonly live: LivePrefill;
  readonly at: number;
  readonly task: number;
  readonly startedAt: number;
}

/** What was shown after each line, and what became of it. */
function replay(name: string) {
  const reader = new LedgerReader();
  const looks: Look[] = [];
  const ended: { look: Look; promptTokens: number; prefillEnd: number }[] = [];
  for (const line of readFileSync(path.join(folder, name), "utf8").split("\n")) {
    const done = reader.readText(line);
    const { running, servers } = reader.result();
    const at = servers.at(-1)?.lastSeconds;
    if (line.includes("prompt processing"))
      for (const request of running) {
        const live = liveRequest(request, at, undefined);
        if (live !== undefined && at !== undefined && request.startedAt !== undefined)
          looks.push({ live, at, task: request.task, startedAt: request.startedAt });
      }
    if (done?.promptTokens === undefined || done.prefillSeconds === undefined) continue;
    for (const look of looks.filter(({ task }) => task === done.task))
      ended.push({ look, promptTokens: done.promptTokens, prefillEnd: look.startedAt + done.prefillSeconds });
  }
  return ended;
}

describe("a prompt that is read, as the log tells it line by line", () => {
  const looks = names.flatMap(replay);
  const fromAQuarter = looks.filter(({ look, promptTokens }) => look.live.processed >= promptTokens / 4);

  it("has looks to judge", () => {
    expect(fromAQuarter.length).toBeGreaterThan(20);
  });

  it("has its length right: median within 1 %, never off by more than 2.5 %", () => {
    const errors = fromAQuarter.map(({ look: { live }, promptTokens }) =>
      Math.abs((live.total ?? Number.NaN) / promptTokens - 1),
    );
    expect(median(errors)).toBeLessThan(0.01);
    expect(Math.max(...errors)).toBeLessThan(0.025);
  });

  it("counts what is left down between lines, and tells for how long it has been quiet", () => {
    const reader = new LedgerReader();
    const text = readFileSync(path.join(folder, "long-prompts.log"), "utf8");
    // two lines, so that a speed is known; of the second one on the prompt's length is bounded
    const line = text.split("\n").filter((each) => each.includes("prompt processing"))[1] ?? "";
    for (const each of text.slice(0, text.indexOf(line) + line.length).split("\n")) reader.readText(each);
    const [running] = reader.result().running;
    const at = reader.result().servers.at(-1)?.lastSeconds ?? Number.NaN;
    const seen = (later: number) => running && liveRequest(running, at + later, undefined);
    const [now, soon, late] = [seen(0), seen(2), seen(600)];
    if (now?.remaining.known !== true || soon?.remaining.known !== true || late?.remaining.known !== true)
      throw new Error("nothing is known");
    expect(now.remaining.seconds - soon.remaining.seconds).toBeCloseTo(2, 1);
    expect(late.remaining.seconds).toBe(0);
    expect(late.quietSeconds).toBeCloseTo(600, 0);
    expect(formatText(livePrefillText(late))).toMatch(
      /reading for 10\.\d min, and last reported progress 10\.\d min ago/,
    );
  });
});
