import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { LedgerReader, ledgerOf, type Ledger } from "../../../../src/core/conversation/ledger";
import type { RereadKind } from "../../../../src/core/conversation/requestRecord";

/** Real logs of llama-server b11669 (forged models), shortened to the lines of servers and slots. */
const folder = path.join(import.meta.dirname, "../../../fixtures/logs/conversation");
const textOf = (name: string): string => readFileSync(path.join(folder, `${name}.log`), "utf8");
/** `timings` of the server's own answers to the same requests: cache_n, prompt_n, predicted_n. */
const answers = JSON.parse(readFileSync(path.join(folder, "answers.json"), "utf8")) as Readonly<
  Record<string, readonly (readonly number[])[]>
>;

const causes = ({ requests }: Ledger): [number, RereadKind][] =>
  requests.flatMap(({ number, reread }) => (reread === undefined ? [] : [[number, reread.kind] as const]));

/** As a file is read: line by line from bytes, most of them without a string. */
function ledgerOfBytes(text: string): { readonly ledger: Ledger; readonly strings: number } {
  const reader = new LedgerReader();
  let strings = 0;
  for (const line of text.split("\n")) {
    const bytes = Buffer.from(line);
    const decoded = (from: number, to: number): string => {
      strings++;
      return bytes.toString("utf8", from, to);
    };
    reader.readLine({ bytes, from: 0, to: bytes.length, text: decoded, ascii: decoded });
  }
  return { ledger: reader.result(), strings };
}

describe("the ledger of a log", () => {
  it.each(readdirSync(folder).filter((name) => name.endsWith(".log")))(
    "is the same from bytes as from text: %s",
    (name) => {
      const text = textOf(path.basename(name, ".log"));
      const odd = [
        ...["", "| task 0 |", "0.00.00.000 I slot x: id 0 | task 0 | y", "9.9", "\u001b[0m 漢 \ud83d"],
        ...[
          "9.00.000.000 I slot release: id  0 | task 0 | stop processing",
          "9.00.000.000 I slot : id  | task  |",
        ],
      ];
      for (const whole of [
        text,
        text.replaceAll("\n", "\r\n").replaceAll(" I slot", " W slot"),
        `${text}${odd.join("\n")}`,
      ])
        expect(ledgerOfBytes(whole).ledger).toEqual(ledgerOf(whole.replaceAll("\r", "")));
    },
  );

  it("makes no string of lines that say nothing", () => {
    const text = textOf("three-turns");
    const idle = text.split("\n").filter((line) => /total time|graphs? re/.test(line)).length;
    expect(idle).toBe(6);
    expect(ledgerOfBytes(text).strings).toBeLessThanOrEqual(text.split("\n").length - idle);
  });

  it.each(Object.entries(answers))("has the figures of the server's answers: %s", (name, timings) => {
    const read = ledgerOf(textOf(name)).requests.flatMap((request) =>
      request.generatedTokens === undefined
        ? []
        : [[request.cachedTokens, request.readTokens, request.generatedTokens]],
    );
    const order = (one: readonly unknown[], other: readonly unknown[]): number =>
      String(one).localeCompare(String(other));
    expect(read.toSorted(order)).toEqual(timings.toSorted(order));
  });

  it("tells refused requests, and how full the slot is", () => {
    const { requests, servers } = ledgerOf(textOf("three-turns"));
    expect(servers).toMatchObject([{ limit: 4096, facts: { model: { path: "/models/slope.gguf" } } }]);
    expect(requests).toMatchObject([
      { outcome: "done", promptTokens: 2816, cachedTokens: 0, fillTokens: 2835, limit: 4096 },
      { outcome: "done", promptTokens: 3653, cachedTokens: 2818, readTokens: 835, fillTokens: 3672 },
      { outcome: "refused", promptTokens: 4485, conversation: 1, fillTokens: 3672, limit: 4096 },
      { outcome: "refused", promptTokens: 18029, fillTokens: 0 },
    ]);
    expect(requests[1]?.prefillSeconds).toBeCloseTo(0.59509, 6);
    expect(requests[2]).not.toHaveProperty("cachedTokens");
  });

  it("tells lines of two servers that write at once, and only those", () => {
    const line = (seconds: number, task: number): string =>
      `0.0${seconds}.000.000 I slot launch_slot_: id  0 | task ${task} | processing task, is_child = 0`;
    const two = [5, 1, 6, 2, 7, 3, 8, 4].map((at, task) => line(at, task)).join("\n");
    expect(ledgerOf(two).servers).toMatchObject([{ mixed: true }]);
    // a start in words nobody knows
    expect(ledgerOf([5, 6, 1, 2].map((at, task) => line(at, task)).join("\n")).servers[0]).not.toHaveProperty(
      "mixed",
    );
    for (const name of ["three-agents-two-slots", "two-prompts-at-once", "slot-busy"])
      expect(ledgerOf(textOf(name)).servers.every(({ mixed }) => mixed === undefined)).toBe(true);
  });

  it("leaves out what a cancelled request never told", () => {
    const cancelled = ledgerOf(textOf("cancelled")).requests.filter(({ outcome }) => outcome === "cancelled");
    expect(cancelled).toHaveLength(2);
    for (const request of cancelled) {
      expect(request).not.toHaveProperty("promptTokens");
      expect(request).not.toHaveProperty("readTokens");
    }
  });

  it("tells requests that shared the server from those that did not", () => {
    const { requests } = ledgerOf(textOf("slot-busy"));
    expect(requests.map(({ disturbed }) => disturbed)).toEqual([
      undefined,
      { prefill: true, generation: true },
      { prefill: false, generation: true },
    ]);
    expect(
      ledgerOf(textOf("two-prompts-at-once")).requests.every(({ disturbed }) => disturbed?.prefill),
    ).toBe(true);
  });
});

describe("why a prompt was read again", () => {
  it.each<[string, [number, RereadKind][]]>([
    ["two-agents-no-cache-ram", [3, 4, 5, 6].map((n) => [n, "slotTaken"])],
    ["three-agents-two-slots", [4, 5, 6, 7, 8, 9].map((n) => [n, "slotTaken"])],
    ["two-agents-cache-ram-full", [3, 4, 5, 6].map((n) => [n, "cacheRamFull"])],
    ["slot-busy", [[2, "slotBusy"]]],
    ["below-threshold", [[3, "belowThreshold"]]],
    ["changed-middle", [[3, "changedBeginning"]]],
    ["changed-beginning", [[3, "changedBeginning"]]],
    ["cache-prompt-off", [[2, "cacheNotUsed"]]],
    ["cache-prompt-off-verbose", [[2, "cachePromptOff"]]],
    ["context-shift", [[3, "contextShift"]]],
    ["edited-sliding-window", [[3, "cacheNotUsed"]]],
    ["edited-sliding-window-verbose", [[3, "behindCheckpoint"]]],
    ["edited-hybrid-verbose", [[3, "behindCheckpoint"]]],
    ["checkpoint-erased-hybrid", [[4, "checkpointErased"]]],
    ["checkpoint-erased-sliding-window", [[4, "checkpointErased"]]],
    // the last request of each has another system prompt
    ["chat-plain", [[7, "changedBeginning"]]],
    ["chat-sliding-window", [[7, "changedBeginning"]]],
    ["chat-hybrid", [[7, "changedBeginning"]]],
    // nothing is lost in these
    ["two-agents-cache-ram", []],
    ["two-agents-four-slots", []],
    ["answer-shortened", []],
    ["answer-shortened-hybrid-verbose", []],
    ["long-prompts", []],
    ["refused", []],
    ["cancelled", []],
    ["answer-cut", []],
    ["three-turns", []],
  ])("%s", (name, expected) => {
    expect(causes(ledgerOf(textOf(name)))).toEqual(expected);
  });

  it("counts what was read before, and its time", () => {
    // 1,939 tokens were in the slot, the prompt differs from the 701st on and has 201 new ones at its end
    const [, , third] = ledgerOf(textOf("changed-middle")).requests;
    expect(third).toMatchObject({ cachedTokens: 700, againTokens: 1239, newTokens: 201 });
    expect(third?.reread?.seconds).toBeCloseTo((0.34879 * 1239) / 1440, 4);
    expect(third?.reread?.provenance).toBe("reported");
  });
});

describe("a log that is not as it should be", () => {
  const chat = textOf("chat-plain");

  it("gives nothing for other programs, binary and nothing", () => {
    for (const text of ["", "hello\nworld", "\0\u0001\ufffd".repeat(1000), "GET /slot 200\n".repeat(50)])
      expect(ledgerOf(text)).toMatchObject({ requests: [], running: [], unknown: { lines: 0 } });
  });

  it("reads colours, prefixes and Windows' line ends", () => {
    const plain = ledgerOf(chat).requests;
    const escape = String.fromCharCode(27);
    const prefixed = (prefix: string): string => chat.replace(/^(?=.)/gm, prefix);
    expect(ledgerOf(chat.replaceAll("\n", "\r\n")).requests).toEqual(plain);
    expect(ledgerOf(chat.replace(/^(.*)$/gm, `${escape}[0m$1${escape}[0m`)).requests).toEqual(plain);
    const docker = ledgerOf(prefixed("2026-05-23T01:43:26.123456789Z ")).requests;
    expect(docker).toEqual(plain);
    const child = ledgerOf(prefixed("[53409] ")).requests;
    expect(child).toEqual(plain.map((request) => ({ ...request, source: "53409" })));
  });

  it("keeps children of a router apart", () => {
    const lines = chat.trimEnd().split("\n");
    const mixed = lines.flatMap((line) => [`[1001] ${line}`, `[1002] ${line}`]).join("\n");
    const { requests } = ledgerOf(mixed);
    expect(requests).toHaveLength(14);
    expect(
      requests.filter(({ source }) => source === "1002").map(({ cachedTokens }) => cachedTokens),
    ).toEqual(answers["chat-plain"]?.map(([cached]) => cached));
    expect(requests.every(({ disturbed }) => disturbed === undefined)).toBe(true);
  });

  it("starts over with the next start of the server, and with its clock", () => {
    const twice = ledgerOf(`${chat}${chat}`);
    expect(twice.servers.map(({ start }) => start)).toEqual([1, 2]);
    const [first = [], second = []] = [1, 2].map((n) => twice.requests.filter(({ start }) => start === n));
    const figures = (all: Ledger["requests"]): unknown[] =>
      all.map(({ promptTokens, cachedTokens, reread }) => [promptTokens, cachedTokens, reread?.kind]);
    expect(figures(second)).toEqual(figures(first));
    expect(new Set(twice.requests.map(({ conversation }) => conversation)).size).toBe(2);
  });

  it("goes on where it begins in the middle, and says what runs where it ends", () => {
    const lines = textOf("long-prompts").split("\n");
    const begun = lines.findIndex((line) => line.includes("task 38 | prompt processing, n_tokens =   3072"));
    const { running } = ledgerOf(
      lines
        .slice(0, begun + 1)
        .join("\n")
        .slice(0, -10),
    );
    expect(running).toMatchObject([{ slot: 0, task: 38, stage: "reading", cachedTokens: 9019 }]);
    const [{ promptTokens } = {}] = running;
    // 9,019 cached, the last token of the answer and 17,000 new ones
    expect(promptTokens?.low).toBeLessThanOrEqual(26_020);
    expect(promptTokens?.high).toBeGreaterThanOrEqual(26_020);
    expect((promptTokens?.high ?? 0) / (promptTokens?.low ?? 1)).toBeLessThan(1.04);
    const half = ledgerOf(lines.slice(begun).join("\n"));
    expect(half.requests).toEqual([]);
  });

  it("counts words it does not know instead of guessing", () => {
    const reworded = chat.replaceAll("stop processing: n_tokens =", "stop processing, tokens in slot:");
    const { requests, unknown } = ledgerOf(reworded);
    expect(requests).toEqual([]);
    expect(unknown.lines).toBe(7);
    expect(unknown.example).toContain("stop processing, tokens in slot: 1932");
  });
});
