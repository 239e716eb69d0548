import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { planConversation, type ConversationPlan } from "../../src/core/conversation/plan";
import type { RequestRecord } from "../../src/core/conversation/requestRecord";
import { ledgerOf } from "../../src/core/conversation/ledger";
import { promptKeeping } from "../../src/core/prefill/secondQuestion";
import { modelOf } from "../../src/core/model/modelOf";
import { ggufModelSource } from "../../src/node/gguf/ggufModelSource";
import { Agent, someTokens, type Turn } from "../support/agent";
import { cliJson } from "../support/cli";
import { forgedModel, type ForgedArchitecture } from "../support/forge/forgeModel";
import { startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";

const limit = 4096;
const turnsOfChat = 20;

/** Every turn of a conversation until one is refused. */
async function talk(
  url: string,
  sizes: { system: number; turn: number; answer: number; thinking: number },
  seed: number,
) {
  const { system, turn, answer, thinking } = sizes;
  const agent = new Agent(url, { system: someTokens(system, seed), answer, thinking });
  const turns: Turn[] = [];
  for (let number = 1; number <= 60; number++) {
    turns.push(await agent.turn(someTokens(turn, seed * 1000 + number)));
    if ("refused" in (turns.at(-1) ?? {})) break;
  }
  return turns;
}

/** A plan in the words of the answers. */
const asTurns = ({ turns }: ConversationPlan): Turn[] =>
  turns.map(({ promptTokens, cachedTokens, readTokens, accepted, answerTokens }) =>
    accepted
      ? { cached: cachedTokens, read: readTokens, generated: answerTokens }
      : { refused: { promptTokens, limit } },
  );

describe.each<ForgedArchitecture>(["qwen3", "gemma3", "qwen35moe"])(
  "a conversation with %s",
  (architecture) => {
    let server: LlamaServerProcess;
    let model: string;

    beforeAll(async () => {
      model = await forgedModel({ architecture });
      server = await startLlamaServer({
        model,
        args: ["-c", String(limit), "-np", "1", "-t", "1", "-tb", "1"],
      });
    });

    afterAll(() => server.stop());

    it.each([
      ["sends its answers back", { system: 1000, turn: 250, answer: 40, thinking: 0 }],
      ["leaves the thinking out", { system: 700, turn: 260, answer: 150, thinking: 110 }],
      ["thinks for longer than the window", { system: 400, turn: 600, answer: 700, thinking: 680 }],
    ])("is cached, read and refused as planned: %s", async (_, sizes) => {
      const header = modelOf(await ggufModelSource().readHeader(model, AbortSignal.timeout(60_000)));
      const plan = planConversation({
        ...{ systemTokens: sizes.system, turnTokens: sizes.turn, answerTokens: sizes.answer },
        ...{ thinkingTokens: sizes.thinking, turns: 60, limit, kept: true },
        keeping: promptKeeping(header, {}),
      });
      expect(plan.refusedAtTurn).not.toBeNull();
      expect(await talk(server.url, sizes, sizes.system)).toEqual(asTurns(plan));
    });

    it("has a ledger without a difference to the server's answers", async () => {
      const answers: Turn[] = [];
      // three chats of one agent, one after the other, and one of another
      for (const [chat, system] of [400, 400, 400, 900].entries()) {
        const agent = new Agent(server.url, { system: someTokens(system, system + 7), answer: 4 });
        for (let turn = 0; turn < turnsOfChat; turn++)
          answers.push(await agent.turn(someTokens(30, chat * 100 + turn)));
      }
      const ours = (): readonly RequestRecord[] => ledgerOf(server.log()).requests.slice(-answers.length);
      await expect
        .poll(() =>
          ours().map(({ cachedTokens, readTokens, generatedTokens }) => ({
            cached: cachedTokens,
            read: readTokens,
            generated: generatedTokens,
          })),
        )
        .toEqual(answers);
      expect(ledgerOf(server.log()).unknown.lines).toBe(0);
      // ordinary turns have no cause; but only plain attention goes back into the middle of a system prompt for a new chat
      const causes = ours().flatMap(({ reread }, index) =>
        reread === undefined ? [] : [[index, reread.kind]],
      );
      expect(causes).toEqual(
        architecture === "qwen3" ? [] : [1, 2].map((chat) => [chat * turnsOfChat, "cacheNotUsed"]),
      );
    });
  },
);

it("plans on the command line", async () => {
  const model = await forgedModel({ architecture: "qwen35moe" });
  const plan = await cliJson([
    ...["conversation", "--system", "1000", "--turn", "250", "--answer", "40", "--turns", "60"],
    ...["--", "-m", model, "-c", "4096", "-np", "1"],
  ]);
  expect(plan).toMatchObject({ nCtxPerSlot: 4096, refusedAtTurn: 11, lost: { turn: 10, readTokens: 3860 } });
});
