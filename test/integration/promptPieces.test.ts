import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openGgufTokenizer, type GgufTokenizer } from "../../src/node/tokenizer/ggufTokenizer";
import { buildWorker, type BuiltWorker } from "../support/builtWorker";
import { forgedModel } from "../support/forge/forgeModel";

let worker: BuiltWorker;
let tokenizer: GgufTokenizer;
const never = new AbortController().signal;

beforeAll(async () => {
  worker = await buildWorker();
  tokenizer = await openGgufTokenizer(await forgedModel({ vocabulary: "qwen2_5" }), {
    signal: never,
    workerFile: worker.file,
  });
});
afterAll(async () => {
  await tokenizer.close();
  await worker.remove();
});

describe("a prompt in pieces", () => {
  it.each([
    ["nothing", []],
    ["words cut anywhere", ["hel", "", "lo wor", "ld\n", "\n\n", "  x", "<|im_", "end|>", "日本", "語"]],
    ["lone surrogates", ["a\ud83d", "\ude00b\udc00", "\ud800"]],
    ["a long one, with pairs where it is cut", ["x", "😀 wörter ".repeat(300_000), "y"]],
  ] as const)("has the tokens of the whole: %s", async (name, pieces) => {
    const whole = pieces.join("");
    // a pair that two pieces share is no character in either: each half is sent as U+FFFD
    const expected = name === "lone surrogates" ? "a\ufffd\ufffdb\ufffd\ufffd" : whole;
    expect(await tokenizer.countPromptPieces(pieces, never)).toBe(
      await tokenizer.countPrompt(expected, never),
    );
  });

  it("is given up when nobody waits any more", async () => {
    const cancel = new AbortController();
    const counting = tokenizer.countPromptPieces(["some words ".repeat(1_000_000)], cancel.signal);
    cancel.abort();
    await expect(counting).rejects.toBe(cancel.signal.reason);
  });
});
