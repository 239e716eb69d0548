import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { LedgerReader } from "../../../../src/core/conversation/ledger";
import { liveRequest } from "../../../../src/core/conversation/liveRequest";
import { median } from "../../../../src/core/median";
import { livePrefillText, type LivePrefill } from "../../../../src/core/prefill/livePrefill";
import { readSpeedSeries, type SpeedSeries } from "../../../support/speedSeries";
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

/** A published series of spans as llama-server would have logged it: progress lines from three seconds on, rounded as its are. */
function logged({ curve }: SpeedSeries): { readonly lines: readonly string[]; readonly seconds: number } {
  const total = curve.points.reduce((sum, { tokens }) => sum + tokens, 0);
  const slot = (at: number, text: string): string => {
    const [minutes, seconds, micros] = [Math.floor(at / 60), Math.floor(at % 60), Math.round((at % 1) * 1e6)];
    const parts = [String(seconds).padStart(2, "0"), String(Math.floor(micros / 1000)).padStart(3, "0")];
    return `${minutes}.${parts.join(".")}.${String(micros % 1000).padStart(3, "0")} I slot print_timing: id  0 | task 0 | ${text}`;
  };
  const lines = [
    slot(0, "selected slot by LRU, n_tokens = 0, t_last = -1"),
    slot(0, "processing task, is_child = 0"),
  ];
  let [tokens, seconds] = [0, 0];
  for (const point of curve.points) {
    tokens += point.tokens;
    seconds += point.seconds;
    if (seconds < 3 || tokens === total) continue;
    const share = (tokens / total).toFixed(2);
    lines.push(
      slot(
        seconds,
        `prompt processing, n_tokens = ${tokens}, progress = ${share}, t = ${seconds.toFixed(2)} s / 1 tokens per second`,
      ),
    );
  }
  return { lines, seconds };
}

describe("the time left of published runs, as a log would have told it", () => {
  const errors = readSpeedSeries()
    .filter(({ contiguous, split, curve }) => contiguous && split !== "negative" && curve.points.length >= 8)
    .map((series) => {
      const { lines, seconds } = logged(series);
      const reader = new LedgerReader();
      const found: number[] = [];
      for (const line of lines) {
        reader.readText(line);
        const result = reader.result();
        const at = result.servers.at(-1)?.lastSeconds ?? 0;
        const [running] = result.running;
        const live = running && liveRequest(running, at, undefined);
        if (at < seconds / 4 || live?.remaining.known !== true) continue;
        found.push(Math.abs(at + live.remaining.seconds - seconds) / seconds);
      }
      return found;
    });

  it("is right to 2 % of the whole time in the median, from a quarter of it on", () => {
    expect(errors.flat().length).toBeGreaterThan(300);
    expect(errors.filter((each) => each.length > 0).length).toBeGreaterThan(10);
    expect(median(errors.flat())).toBeLessThan(0.02);
  });
});
