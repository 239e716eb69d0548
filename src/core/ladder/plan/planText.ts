import type { ServerFacts } from "../../acceptance/serverFacts";
import { count, say } from "../../text";
import { UserError } from "../../userError";
import { defaultPlan, usualRungs } from "./plan";

/** Below it a prompt has no room for canaries and the question about them. */
const leastContext = 2048;

/**
 * A plan for this server, as a file to be edited: the usual rungs that fit, and the default criteria. Fails with
 * `invalidInput` where one request holds too little for any ladder.
 */
export function planTextFor(facts: ServerFacts): string {
  if (facts.nCtxPerSlot < leastContext) {
    throw new UserError(
      "invalidInput",
      say`One request may hold only ${count(facts.nCtxPerSlot)} token[s] here: too few for a ladder.`,
      say`Start llama-server with a larger -c, or with -np 1 if several slots divide it.`,
    );
  }
  const { repetitions, seed, canaries, criteria, limits } = defaultPlan;
  const answerTokens = Math.min(defaultPlan.answerTokens, Math.floor(facts.nCtxPerSlot / 8));
  const last = Math.min(126 * 1024, Math.floor((facts.nCtxPerSlot - answerTokens) / 256) * 256);
  const small = last < 8192;
  // the largest window is what people want to know; it replaces a usual rung that is almost as long
  const rungs = small
    ? [Math.floor(last * 0.75), last]
    : [...usualRungs.filter((rung) => rung < last * 0.85), last];
  const baseTokens = small ? Math.floor(last / 2) : defaultPlan.baseTokens;
  const asked = small
    ? Math.max(2, Math.min(canaries.target, Math.floor(baseTokens / 200)))
    : canaries.target;
  const all = asked * repetitions;
  return `# Acceptance ladder for ${facts.model.id.replace(/[\r\n]/g, " ")}
# Lengths are tokens of the whole prompt; 8K means 8192. One request may hold ${facts.nCtxPerSlot} tokens here.
rungs: [${rungs.join(", ")}]
baseTokens: ${baseTokens}
# Runs at the last rung and the repeated lengths, each with another seed; the other rungs run once.
repetitions: ${repetitions}
# Lengths that matter to you: only what is repeated can be verified.
repeated: [${baseTokens}]
seed: ${seed}
canaries:
  target: ${asked}
  other: ${Math.min(asked, canaries.other)}
  distractors: true
  # json: all at once. line: one by one, each line only completed; for small and base models.
  question: json
# Three rules at the start, the middle and the end, and a small change of code that must keep them.
constraints: ${small ? "false" : "true"}
# Text between the canaries: shipped, or { folder: ./src }
filler: shipped
answerTokens: ${answerTokens}
thinking: off
limits:
  rungSeconds: ${limits.rungSeconds}
  totalSeconds: ${limits.totalSeconds}
# Declared before the run; a changed criterion is a new plan.
criteria:
  perRun: ${Math.ceil((asked * criteria.perRun) / canaries.target)}
  pooled: ${Math.ceil((all * criteria.pooled) / (canaries.target * repetitions))}
  constraints: ${small ? 0 : 3}
  # prefillSeconds: 600
  # generationTokensPerSecond: 10
  memoryMarginMiB: 512
  monitor: stated
`;
}
