import type { ServerFacts } from "../acceptance/serverFacts";
import { defaultPlan, usualRungs } from "./plan";

/** A plan for this server, as a file to be edited: the usual rungs that fit, and the default criteria. */
export function planTextFor(facts: ServerFacts): string {
  const { repetitions, seed, canaries, criteria, limits } = defaultPlan;
  const answerTokens = Math.min(defaultPlan.answerTokens, Math.floor(facts.nCtxPerSlot / 8));
  const room = facts.nCtxPerSlot - answerTokens;
  const fitting = usualRungs.filter((rung) => rung <= room);
  const last = Math.floor(room / 256) * 256;
  // the largest window is what people want to know; it replaces a usual rung that is almost as long
  const below = fitting.filter((rung) => rung < last * 0.85);
  const small = last < 8192;
  const rungs = small
    ? [...new Set([Math.floor(last / 2), last])]
    : [...below, fitting.at(-1) === last ? last : Math.min(last, 126 * 1024)];
  const asked = small ? Math.max(2, Math.min(20, Math.floor(last / 200))) : canaries.target;
  const all = asked * repetitions;
  return `# Acceptance ladder for ${facts.model.id.replace(/[\r\n]/g, " ")}
# Lengths are tokens of the whole prompt; 8K means 8192. One request may hold ${facts.nCtxPerSlot} tokens here.
rungs: [${[...new Set(rungs)].join(", ")}]
baseTokens: ${small ? Math.max(256, Math.floor(last / 4)) : defaultPlan.baseTokens}
# Runs at the last rung, each with another seed; the other rungs run once.
repetitions: ${repetitions}
seed: ${seed}
canaries:
  target: ${asked}
  other: ${Math.min(asked, canaries.other)}
  distractors: true
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
