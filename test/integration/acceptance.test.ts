import { beforeAll, describe, expect, it } from "vitest";
import type { ServerFacts } from "../../src/core/acceptance/serverFacts";
import { acceptance, limitOfLaunch, limitOfServer } from "../../src/core/acceptance/acceptance";
import { measureTemplate, renderPrompt, templateProbe } from "../../src/core/acceptance/chatTemplate";
import { buildNumber } from "../../src/core/launch/builds";
import { slotContext } from "../../src/core/launch/slotContext";
import { formatText } from "../../src/core/format";
import { known } from "../../src/core/known";
import type { LaunchOptions } from "../../src/core/launch/launchOptions";
import { HttpLlamaServer } from "../../src/node/llamaServer/llamaServer";
import { forgedModel } from "../support/forge/forgeModel";
import { startLlamaServer } from "../support/llamaCpp";
import { postJson } from "../support/postJson";

const signal = new AbortController().signal;
const nCtxTrain = 2048;
let model: string;

beforeAll(async () => {
  model = await forgedModel({ contextLength: nCtxTrain });
});

/** Configurations in which the edge is tried with real prompts: every kind of division of the context. */
const atTheEdge = [
  "",
  "-c 1000",
  "-c 1000 -np 1",
  "-c 1000 -np 3",
  "-c 1000 -np 3 -kvu",
  "-c 5000 -np 1",
  "--kv-unified-per-slot 300",
  "-np 2 -fit off",
];

/** What a server with these arguments says about itself, and what we say it would be. */
const configurations: readonly (readonly [string, LaunchOptions])[] = [
  ["", {}],
  ["-c 0", { ctxSize: 0 }],
  ["-c 0 -np 2", { ctxSize: 0, parallel: 2 }],
  ["-c 1000", { ctxSize: 1000 }],
  ["-c 1000 -np 1", { ctxSize: 1000, parallel: 1 }],
  ["-c 1000 -np 3", { ctxSize: 1000, parallel: 3 }],
  ["-c 1024 -np 2", { ctxSize: 1024, parallel: 2 }],
  ["-c 1000 -np 3 -kvu", { ctxSize: 1000, parallel: 3, kvUnified: true }],
  ["-no-kvu -c 512", { ctxSize: 512, kvUnified: false }],
  ["-c 5000 -np 1", { ctxSize: 5000, parallel: 1 }],
  ["-c 5000 -np 2 -no-kvu", { ctxSize: 5000, parallel: 2, kvUnified: false }],
  ["--kv-unified-per-slot 300", { kvUnifiedPerSlot: 300 }],
  ["-np 2 --kv-unified-per-slot 300", { parallel: 2, kvUnifiedPerSlot: 300 }],
  [
    "-np 2 -kvu --kv-unified-per-slot 300 -c 512",
    { parallel: 2, kvUnified: true, kvUnifiedPerSlot: 300, ctxSize: 512 },
  ],
  ["-np 2", { parallel: 2 }],
  ["-np 2 -fit off", { parallel: 2, fit: false }],
  ["-np 3 -kvu", { parallel: 3, kvUnified: true }],
  ["-np 1", { parallel: 1 }],
  ["-c 257 -np 1", { ctxSize: 257, parallel: 1 }],
  [
    "-c 4096 -np 1 --override-kv qwen3.context_length=int:4096",
    { ctxSize: 4096, parallel: 1, overrideKv: ["qwen3.context_length=int:4096"] },
  ],
  [
    "-c 65536 -np 1 --rope-scaling yarn --rope-scale 7",
    { ctxSize: 65_536, parallel: 1, ropeScaling: "yarn", ropeScale: 7 },
  ],
  [
    "-c 0 -np 2 --rope-scaling yarn --rope-freq-scale 0.3",
    { ctxSize: 0, parallel: 2, ropeScaling: "yarn", ropeScale: 1 / 0.3 },
  ],
];

describe("slots and context computed from a command line are what the real server makes of it", () => {
  it.each(configurations)("llama-server %s", async (args, options) => {
    const running = await startLlamaServer({ model, args: [...words(args), "-b", "512"] });
    try {
      const facts = await new HttpLlamaServer({ url: running.url }).facts(signal);
      const computed = slotContext(options, { contextLength: nCtxTrain, rope: {} }, buildNumber(facts.build));
      expect([computed.slots, computed.nCtxPerSlot]).toEqual([facts.totalSlots, facts.nCtxPerSlot]);
      if (atTheEdge.includes(args)) await expectAgreementAtTheEdge(running.url, facts, options);
      // its log is whole when it has ended
      await running.stop();
      const logged = /kv_unified = '(true|false)'/.exec(running.log())?.[1];
      expect(String(computed.unified)).toBe(logged);
    } finally {
      await running.stop();
    }
  });
});

/** Prompts of a token less than fits, just as many and one more: the verdict is the server's answer. */
async function expectAgreementAtTheEdge(
  url: string,
  facts: ServerFacts,
  options: LaunchOptions,
): Promise<void> {
  const server = new HttpLlamaServer({ url });
  const tokenizer = server.tokenizer(facts);
  const rules = [limitOfServer(facts), limitOfLaunch(slotContext(options, nCtxTrain))];
  const measured = measureTemplate(await server.applyTemplate(templateProbe, signal));
  if (measured.kind !== "measured") throw new Error(measured.problem);
  const around = await tokenizer.countPrompt(renderPrompt(measured.template, ""), signal);

  const disagreements: string[] = [];
  for (const length of [-1, 0, 1].map((step) => facts.nCtxPerSlot + step)) {
    const raw = filler(length);
    const chat = filler(length - around);
    const prompt = renderPrompt(measured.template, chat);
    expect(await tokenizer.countPrompt(raw, signal)).toBe(length);
    expect(await tokenizer.countPrompt(prompt, signal)).toBe(length);
    const messages = [{ role: "user", content: chat }];
    const answers = [
      await accepts(`${url}/completion`, { prompt: raw, n_predict: 1 }, length),
      await accepts(`${url}/v1/chat/completions`, { messages, max_tokens: 1 }, length),
      await accepts(`${url}/v1/messages`, { messages, max_tokens: 1 }, length),
    ];
    for (const limit of rules) {
      const parts = { files: length - around, packing: 0, template: around };
      const report = acceptance({ parts, limit: known(limit), answerReserve: 0 });
      if (answers.some((answer) => answer !== report.accepted)) {
        disagreements.push(`${length} tokens, ${limit.provenance}: ${String(report.accepted)}`);
      }
    }
  }
  expect(disagreements).toEqual([]);
}

describe("one pool for all slots", () => {
  it("runs out where we say so, though the rule lets the prompt in", async () => {
    const running = await startLlamaServer({
      model: await forgedModel(),
      args: words("-c 4096 -np 2 -kvu"),
    });
    try {
      const server = new HttpLlamaServer({ url: running.url });
      const launch = slotContext({ ctxSize: 4096, parallel: 2, kvUnified: true }, 32_768);
      const long = { prompt: filler(2000), n_predict: 2000, ignore_eos: true };
      const first = postJson(`${running.url}/completion`, long);
      let facts = await server.facts(signal);
      await expect
        .poll(async () => limitOfServer((facts = await server.facts(signal))).busyTokens, { timeout: 30_000 })
        .toBeGreaterThanOrEqual(2000);
      // at once: the first one writes its 2000 tokens for a few seconds only
      const exceeding = postJson(`${running.url}/completion`, { prompt: filler(2500), n_predict: 1 });
      const limit = known(limitOfServer(facts, launch));
      const judge = (files: number): readonly string[] => {
        const parts = { files, packing: 0, template: 0 };
        const report = acceptance({ parts, limit, answerReserve: 0 });
        expect(report.accepted).toBe(true);
        return report.reasons.map((reason) => formatText(reason));
      };
      expect(judge(100).join()).not.toContain("run out");
      expect(judge(2500).join()).toContain("run out");
      const second = await exceeding;
      const exceeded = { code: 500, message: "Context size has been exceeded.", type: "server_error" };
      expect([(await first).body, second.body]).toContainEqual({ error: exceeded });
    } finally {
      await running.stop();
    }
  });
});

const words = (args: string): string[] => args.split(" ").filter((word) => word !== "");

/** A text of that many tokens in the Qwen2.5 vocabulary. */
const filler = (tokens: number): string => Array.from({ length: tokens }, () => "word").join(" ");

/** Whether the server takes the prompt; the length it names in its refusal must be ours. */
async function accepts(url: string, body: unknown, promptTokens: number): Promise<boolean> {
  const reply = await postJson(url, body);
  if (reply.status === 200) return true;
  expect(reply).toMatchObject({
    status: 400,
    body: { error: { type: "exceed_context_size_error", n_prompt_tokens: promptTokens } },
  });
  return false;
}
