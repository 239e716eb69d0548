import { expect, it } from "vitest";
import { readModels, readProps, readSlots } from "../../../../src/core/acceptance/serverReplies";

// replies of llama-server b11669, shortened

it("reads the tokens a slot holds, prompt and answer", () => {
  const base = { n_ctx: 2048, speculative: false };
  const working = {
    ...{ ...base, id: 0, is_processing: true, n_prompt_tokens: 4 },
    ...{ n_prompt_tokens_processed: 3, n_prompt_tokens_cache: 0, next_token: [{ n_decoded: 1 }] },
  };
  // a build that counts the prompt alone in n_prompt_tokens, with part of it cached
  const cached = {
    ...{ ...base, id: 1, is_processing: true, n_prompt_tokens: 100 },
    ...{ n_prompt_tokens_processed: 40, n_prompt_tokens_cache: 60, next_token: [{ n_decoded: 25 }] },
  };
  const fresh = { ...base, id: 2, is_processing: false };
  expect(readSlots([working, cached, fresh])).toEqual([
    { id: 0, nCtx: 2048, busy: true, tokens: 4 },
    { id: 1, nCtx: 2048, busy: true, tokens: 125 },
    { id: 2, nCtx: 2048, busy: false },
  ]);
});

it("reads a router's list", () => {
  const listed = {
    id: "b",
    aliases: ["best"],
    status: { value: "unloaded", args: ["llama-server", "--ctx-size", "4096"], exit_code: 1, failed: true },
    context_length: 32_768,
  };
  expect(readModels({ object: "list", data: [listed] })).toEqual([
    {
      ...{ id: "b", aliases: ["best"], status: "unloaded", failed: true },
      ...{ args: ["--ctx-size", "4096"], nCtxTrain: 32_768 },
    },
  ]);
});

it("takes the little an old server tells", () => {
  expect(readProps({ default_generation_settings: { n_ctx: 4096 }, total_slots: 1 })).toEqual({
    nCtxPerSlot: 4096,
    totalSlots: 1,
    sleeping: false,
    hasVision: false,
  });
});
