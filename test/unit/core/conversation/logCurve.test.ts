import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { importCurves } from "../../../../src/core/history/importCurves";
import { predict } from "../../../../src/core/prefill/predict";

const folder = path.join(import.meta.dirname, "../../../fixtures/logs/conversation");
const textOf = (name: string): string => readFileSync(path.join(folder, `${name}.log`), "utf8");

/** Seconds for 8K tokens from a depth (in 8K) on, read from a 128K prompt: run 1 of the article. */
const chunks = new Map([
  [0, 23.5],
  [4, 52.7],
  [8, 82],
  [14, 129.1],
]);

/** The chunks as llama-server writes them, with straight lines between those that were published. */
function seedLog(): string {
  const known = [...chunks].sort(([p], [q]) => p - q);
  const chunkSeconds = (index: number): number => {
    const right = Math.max(
      1,
      known.findIndex(([at]) => at >= index),
    );
    const [[x0, y0] = [0, 0], [x1, y1] = [1, 0]] = known.slice(right - 1, right + 1);
    return y0 + ((index - x0) / (x1 - x0)) * (y1 - y0);
  };
  const lines: string[] = [];
  let time = 0;
  const total = 15 * 8192;
  const stamp = (seconds: number): string => {
    const micro = Math.round(seconds * 1e6);
    const [m, s, rest] = [Math.floor(micro / 6e7), Math.floor(micro / 1e6) % 60, micro % 1e6];
    const six = String(rest).padStart(6, "0");
    return `${m}.${String(s).padStart(2, "0")}.${six.slice(0, 3)}.${six.slice(3)} I `;
  };
  const say = (text: string): void => void lines.push(stamp(time + 10) + text);
  say("srv    load_model: loading model '/models/seed-27b.gguf'");
  say("srv    load_model: initializing, n_slots = 1, n_ctx_slot = 131072, kv_unified = 'false'");
  say("slot get_availabl: id  0 | task -1 | selected slot by LRU, n_tokens = 0, t_last = -1");
  say("slot launch_slot_: id  0 | task 0 | processing task, is_child = 0");
  for (let index = 0; index < 15; index++) {
    time += chunkSeconds(index);
    const done = (index + 1) * 8192;
    if (done < total)
      say(
        `slot print_timing: id  0 | task 0 | prompt processing, n_tokens = ${String(done).padStart(6)}, progress = ${(done / total).toFixed(2)}, t = ${time.toFixed(2).padStart(6)} s / ${(done / time).toFixed(2)} tokens per second`,
      );
  }
  say(
    `slot print_timing: id  0 | task 0 | prompt eval time = ${(time * 1000).toFixed(2)} ms / ${total} tokens (   10.00 ms per token,   100.00 tokens per second)`,
  );
  say(
    "slot print_timing: id  0 | task 0 |        eval time =    2000.00 ms /    20 tokens (  100.00 ms per token,    10.00 tokens per second)",
  );
  say(`slot      release: id  0 | task 0 | stop processing: n_tokens = ${total + 19}, truncated = 0`);
  return lines.join("\n");
}

describe("curves in logs", () => {
  it("finds the published chunks of a 128K prompt, and predicts the shorter prompts of the same day", () => {
    const [curve, ...others] = importCurves(seedLog());
    expect(others).toEqual([]);
    expect(curve?.key).toEqual({ model: "/models/seed-27b.gguf", build: "", flags: "" });
    for (const [at, seconds] of chunks) {
      const point = curve?.points.find(({ depth }) => depth === at * 8192);
      expect(point?.tokens).toBe(8192);
      expect(point?.seconds).toBeCloseTo(seconds, 2);
    }
    expect(curve?.generation).toEqual([{ depth: 15 * 8192 + 10, tokensPerSecond: 10 }]);
    if (curve === undefined) return;
    // the article's own prompts of 32K and 64K in the same run: 149 s and 397 s
    for (const [tokens, measured] of [
      [32_768, 149],
      [65_536, 397],
    ] as const) {
      const prediction = predict(curve, { tokens });
      expect(prediction.known && Math.abs(prediction.seconds / measured - 1)).toBeLessThan(0.1);
    }
  });

  it("puts spans behind what was cached, up to the server's own total", () => {
    const [curve] = importCurves(textOf("long-prompts"));
    const points = curve?.points ?? [];
    const second = points.filter(({ depth }) => depth >= 9019);
    expect(second[0]).toMatchObject({ depth: 9019, tokens: 1024 });
    expect(second.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(17_001);
    const first = points.filter(({ depth }) => depth < 9000);
    expect(first.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(9000);
    // prompt eval time = 20001.35 ms, of which the stamps tell the parts
    expect(first.reduce((sum, { seconds }) => sum + seconds, 0)).toBeCloseTo(20.00135, 1);
  });

  it("leaves out prompts that were read at the same time", () => {
    expect(() => importCurves(textOf("two-prompts-at-once"))).toThrow(/contains no measurements/);
  });

  it("keeps setups apart, with the options of a command line in front of them", () => {
    const log = textOf("long-prompts");
    const command = "$ llama-server -m /models/a.gguf -ctk q8_0 -ub 256 --api-key secret\n";
    const curves = importCurves(`${command}${log}${log.replaceAll("qwen3-tiny", "other")}`);
    expect(curves.map(({ key }) => key)).toEqual([
      { model: "/models/qwen3-tiny.gguf", build: "", flags: "-ub 256 -ctk q8_0" },
      { model: "/models/other.gguf", build: "", flags: "" },
    ]);
    const [verbose] = importCurves(textOf("edited-hybrid-verbose"));
    expect(verbose?.key.build).toBe("b11669 (Debian)");
  });
});
