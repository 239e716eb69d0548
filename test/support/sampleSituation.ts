import type { ServerFacts } from "../../src/core/acceptance/serverFacts";
import { known, unknown } from "../../src/core/known";
import type { Situation } from "../../src/core/report/situation";
import { say } from "../../src/core/text";
import { assumedTokenizer } from "../../src/core/tokens/estimateTokens";
import { HttpLlamaServer } from "../../src/node/llamaServer/llamaServer";

const nothing = unknown(say`Not known here.`, say`Nothing to do.`);

/** Neither server nor model, unless something else is said. */
export const sampleSituation = (changes: Partial<Situation> = {}): Situation => ({
  server: nothing,
  tokenizer: assumedTokenizer(),
  modelFile: nothing,
  model: nothing,
  launch: {},
  launchNotes: [],
  memory: nothing,
  curve: nothing,
  ...changes,
});

/** A server that answers at this address. */
export const serverAt = (url: string, changes: Partial<ServerFacts> = {}): Situation["server"] =>
  known({
    server: new HttpLlamaServer({ url }),
    facts: {
      url,
      role: "single",
      model: { id: "model.gguf", path: "/models/model.gguf" },
      build: "b11669-Debian",
      nCtxPerSlot: 4096,
      totalSlots: 1,
      sleeping: false,
      hasVision: false,
      ...changes,
    },
  });
