import { count, percent, say, seconds, type Text } from "../text";
import { catalogue } from "./cause";
import { easierQuestion, longerAnswer, smallerWindow, type EasierKind } from "./remedies";

const template = say`Check that the chat template and the sampling are the ones the model recommends.`;
const betterModel = say`Try a larger model or a finer quantisation of the weights, and nothing else.`;
const importantEnds = say`Put what matters at the start or the end, and exclude what is not needed (retrieval, parts, summaries).`;

/** Why a long prompt was recalled badly, in shares from 0 to 1. */
export interface Forgotten {
  readonly tokens: number;
  readonly recalled: number;
  readonly start: number;
  readonly middle: number;
  readonly end: number;
  /** Longest length with sufficient recall, in tokens. */
  readonly verified: number | undefined;
}

/** Why a run says nothing about recall. */
export type NotJudged = "promptTruncated" | "empty" | "reasoningBudget" | "answerCut";

/** What makes long prompts slow, forgotten or unreliable. */
export const ladderCauses = catalogue({
  otherLoad: () =>
    ({
      sentence: say`Other programs or clients used the machine or the server meanwhile.`,
      change: "load",
      remedies: [say`Stop the other load and run the same test again.`],
    }) as const,
  otherClient: (tokens: number) =>
    ({
      sentence: say`Another client used the server before the rung of ${count(tokens)} token[s].`,
      change: "load",
      remedies: [say`Let the other request finish, then run the ladder again; completed runs are kept.`],
    }) as const,
  noMargin: () =>
    ({
      sentence: say`There is no margin: it is close to a limit, and small differences decide.`,
      change: "length",
      remedies: [say`Repeat the same ladder three times, then lower the length until all three pass.`],
    }) as const,
  flaky: (tokens: number, correct: readonly number[], asked: number, verified: number | undefined) =>
    ({
      sentence: say`At ${count(tokens)} token[s] some runs pass and others do not (${correct.join(", ")} of ${count(asked)}): there is no margin.`,
      change: "load",
      remedies: [say`Stop all other load and repeat with more repetitions.`, lowerTarget(verified)],
    }) as const,
  modelWeak: (base?: {
    readonly recalled: number;
    readonly tokens: number;
    /** Than the question that was asked. */
    readonly easier: EasierKind | undefined;
  }) =>
    ({
      sentence:
        base === undefined
          ? say`The model recalls little of a short prompt already: the cause is not the length.`
          : say`The model recalls only ${percent(100 * base.recalled)} at ${count(base.tokens)} token[s] already: the cause is not the length. It is too weak for this kind of question, so there is no window.`,
      change: "weights",
      remedies: [...easierQuestion(base?.easier), template, betterModel],
    }) as const,
  modelForgets: () =>
    ({
      sentence: say`The model itself does not handle such a length well.`,
      change: "length",
      remedies: [
        say`Use the longest length of the ladder with sufficient recall as the limit.`,
        importantEnds,
      ],
    }) as const,
  forgetsAtLength: (what: Forgotten) =>
    ({
      sentence: forgotten(what),
      change: "length",
      remedies: [lowerTarget(what.verified), importantEnds],
    }) as const,
  constraintsLost: (tokens: number) =>
    ({
      sentence: say`Facts are recalled, but at ${count(tokens)} token[s] the code does not follow the rules given in the prompt.`,
      change: "length",
      remedies: [say`Repeat rules next to the task, or use a shorter window for code.`],
    }) as const,
  offload: () =>
    ({
      sentence: say`It is slow from the first token: the cause is the part on the CPU, not the length.`,
      change: "placement",
      remedies: [
        say`Move more of it to the GPU: smaller weights or a different placement, one change at a time.`,
      ],
    }) as const,
  attentionCost: (takes: number | undefined) =>
    ({
      sentence:
        takes === undefined
          ? say`The deeper a token is in the prompt, the more it costs: the cause is the length, not a fault.`
          : say`The deeper a token is in the prompt, the more it costs: ${seconds(takes)} is what this length costs here.`,
      change: "length",
      remedies: [
        say`Use a smaller window for everyday work, and keep the beginning of the prompt unchanged so that the cache is used.`,
        say`Try another backend, ubatch (-ub) or flash attention, one at a time.`,
      ],
    }) as const,
  tooSlow: (tokens: number, takes: number | undefined) =>
    ({
      sentence:
        takes === undefined
          ? say`It works at ${count(tokens)} token[s], but too slowly. That is a practical limit, not a capacity limit.`
          : say`It works at ${count(tokens)} token[s], but reading them takes ${seconds(takes)}. That is a practical limit, not a capacity limit.`,
      change: "length",
      remedies: [
        smallerWindow,
        say`Try a smaller model, another backend or a better placement, one at a time.`,
      ],
    }) as const,
  timeLimit: (tokens: number) =>
    ({
      sentence: say`The rung of ${count(tokens)} token[s] took longer than the plan allows.`,
      change: "length",
      remedies: [
        say`Use a smaller target as the daily window, or allow more time in the plan.`,
        say`Try a smaller model, another backend or a different placement, one at a time.`,
      ],
    }) as const,
  serverFailed: (tokens: number, how: Text) =>
    ({
      sentence: say`At ${count(tokens)} token[s], ${how}`,
      change: "nothing",
      remedies: [
        say`Check the end of the server's log for the cause.`,
        say`Run the same ladder once more: if it fails at the same token count, the cause is the cache or the backend; if the count changes, it is memory or load.`,
      ],
    }) as const,
  notJudged: (what: NotJudged, words: Text) =>
    ({
      sentence: say`A run at the target length has no recall result: ${words}`,
      change: "plan",
      remedies: [judgeable(what)],
    }) as const,
  baseNotJudged: (what: NotJudged, words: Text, easier: EasierKind | undefined) =>
    ({
      sentence: say`A run at the base length has no recall result, so no length can be judged: ${words}`,
      change: "plan",
      remedies: [judgeable(what), ...(what === "promptTruncated" ? [] : easierQuestion(easier))],
    }) as const,
  unclear: (question: Text, howToLearn: Text) =>
    ({
      sentence: say`To name a cause, this has to be known first: ${question}`,
      change: "nothing",
      remedies: [howToLearn],
    }) as const,
});

function judgeable(what: NotJudged): Text {
  switch (what) {
    case "promptTruncated":
      return say`Turn context shift off and check that nothing else divides or cuts the context.`;
    case "empty":
      return say`Check whether the chat template of the model file is the right one.`;
    default:
      return longerAnswer;
  }
}

function forgotten({ tokens, recalled, start, middle, end }: Forgotten): Text {
  const ends = Math.min(start, end);
  if (middle < ends - 0.15) {
    return say`At ${count(tokens)} token[s] it completes but forgets, most of all in the middle (${percent(100 * middle)} there, ${percent(100 * ends)} or more at the ends).`;
  }
  return start < end - 0.15
    ? say`At ${count(tokens)} token[s] it completes but forgets the beginning (${percent(100 * start)} recalled there, ${percent(100 * end)} at the end).`
    : say`At ${count(tokens)} token[s] it completes but forgets: ${percent(100 * recalled)} recalled.`;
}

const lowerTarget = (verified: number | undefined): Text =>
  verified === undefined
    ? say`No length of this ladder reached the required recall: try shorter rungs.`
    : say`Use ${count(verified)} token[s] as the working limit: the longest length with sufficient recall. Confirm it with a plan of its own.`;
