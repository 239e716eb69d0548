import { afterAll, beforeAll, expect, it } from "vitest";
import { openGgufTokenizer } from "../../src/node/tokenizer/ggufTokenizer";
import { buildWorker, type BuiltWorker } from "../support/builtWorker";
import { forgedModel } from "../support/forge/forgeModel";

const never = new AbortController().signal;
let worker: BuiltWorker;
beforeAll(async () => void (worker = await buildWorker()));
afterAll(() => worker.remove());

it("counting stops at once when nobody waits any more, and goes on with other work", async () => {
  const tokenizer = await openGgufTokenizer(await forgedModel({ vocabulary: "qwen2_5" }), {
    signal: never,
    workerFile: worker.file,
    workers: 1,
  });
  const big = "const value = compute(argument0, argument1); // some words\n".repeat(400_000);
  const begun = performance.now();
  await tokenizer.count([big], never);
  const whole = performance.now() - begun;
  const cancel = new AbortController();
  const running = tokenizer.count([big, big], cancel.signal);
  await new Promise((resolve) => setTimeout(resolve, whole / 10));
  const asked = performance.now();
  cancel.abort();
  await expect(running).rejects.toBe(cancel.signal.reason);
  expect(await tokenizer.count(["next"], never)).toEqual([{ tokens: 1 }]);
  // more than nine tenths of one text and a whole other were to do: almost twice this
  expect(performance.now() - asked).toBeLessThan(whole);
  await tokenizer.close();
});
