import type { MonitorVerdict } from "../../monitor/monitorSample";
import { formatBytes } from "../../format";
import { count, percent, say } from "../../text";
import type { Text } from "../../text";
import { answerAgreement, type AnswerAgreement } from "../score/answerAgreement";
import { judgeLadder } from "../score/judgeLadder";
import type { LadderHeader, LadderRecord, LadderStep } from "../score/record";
import { rungResults } from "../score/results";
import { mcNemar } from "../score/statistics";
import { latest } from "../score/steps";
import { largest } from "../../lists";

/** Fields that say where or when, not what. */
const notKeys: ReadonlySet<string> = new Set(["parameters"]);
/** Fields that follow from another one: a new model file has another size. */
const consequences: Readonly<Record<string, string>> = {
  weightsBytes: "model",
  nCtxPerSlot: "ctxSize",
  totalSlots: "parallel",
};

export interface LadderComparison {
  /** Setup fields that differ, first's value and other's. */
  readonly differing: readonly { readonly field: string; readonly first: string; readonly other: string }[];
  /** The one field that may be named as the cause; undefined where several differ, or none. */
  readonly singleCause?: string;
  readonly capacity: Change;
  readonly speed: readonly SpeedChange[];
  readonly recall: RecallChange;
  /** What both wrote, token by token; absent where the prompts were not the same. */
  readonly agreement?: AnswerAgreement;
  readonly sentence: Text;
  readonly notes: readonly Text[];
}

export interface Change {
  /** Longest length that finished without a failure of the system. */
  readonly first: number;
  readonly other: number;
}

export interface SpeedChange {
  readonly tokens: number;
  readonly kind: "prefill" | "generation";
  /** Speed of the other over the first, e.g. 1.1. */
  readonly ratio: number;
}

export interface RecallChange {
  /** The same canaries under both: recalled by one only. */
  readonly onlyFirst: number;
  readonly onlyOther: number;
  readonly pairs: number;
  /** Two-sided exact p of McNemar's test. */
  readonly p: number;
}

/** What two days on one machine differ by: less is no news (the same for runs beside a baseline). */
const noticeable = 0.12;

/**
 * What moved between two configurations under the same plan and seeds: capacity, speed, recall. With more than one
 * field changed no cause is named; a speed below the noise of two runs, or of a disturbed machine, does not count as
 * moved.
 */
export function compareLadders(first: LadderRecord, other: LadderRecord): LadderComparison {
  const differing = differingFields(first, other);
  const own = differing.filter(({ field }) => {
    const source = consequences[field];
    return source === undefined || !differing.some((d) => d.field === source);
  });
  const singleCause = own.length === 1 ? own[0]?.field : undefined;
  const capacity = { first: longest(first), other: longest(other) };
  const speed = speedChanges(first, other);
  const recall = recallChange(first, other);
  const agreement = samePrompts(first, other) ? answerAgreement(first, other) : undefined;
  const notes = notesOn(
    first,
    other,
    own.map(({ field }) => field),
  );
  const disturbed = [first, other].some((record) => record.steps.some(isDisturbed));
  const sameRungs = [...first.header.plan.rungs].join() === [...other.header.plan.rungs].join();
  const climbed = sameRungs && hasEnded(first) && hasEnded(other);
  const whole = climbed && !disturbed && speed.length > 0 && recall.pairs > 0;
  const moved = [
    ...(capacity.first === capacity.other || !climbed
      ? []
      : [say`capacity from ${count(capacity.first)} to ${count(capacity.other)} token[s]`]),
    ...(disturbed ? [] : speed)
      .filter(({ ratio }) => Math.abs(ratio - 1) > noticeable)
      .slice(-2)
      .map(({ tokens, kind, ratio }) =>
        kind === "prefill"
          ? say`prefill at ${count(tokens)} token[s] by ${percent(100 * (ratio - 1))}`
          : say`generation at ${count(tokens)} token[s] by ${percent(100 * (ratio - 1))}`,
      ),
    ...(recall.p < 0.05
      ? [
          say`recall (${count(recall.onlyFirst)} canar[y|ies] only before, ${count(recall.onlyOther)} only after)`,
        ]
      : []),
  ];
  return {
    differing,
    ...(singleCause !== undefined && { singleCause }),
    capacity,
    speed,
    recall,
    ...(agreement !== undefined && { agreement }),
    sentence: sentenceOf(moved, { cause: singleCause, changed: own.length, whole }),
    notes,
  };
}

/** `whole`: capacity, speed and recall could all be compared. */
function sentenceOf(
  moved: readonly Text[],
  {
    cause,
    changed,
    whole,
  }: { readonly cause: string | undefined; readonly changed: number; readonly whole: boolean },
): Text {
  const [one, two, three] = moved;
  const what =
    one === undefined
      ? undefined
      : two === undefined
        ? say`${one}`
        : three === undefined
          ? say`${one} and ${two}`
          : say`${one}, ${two} and ${three}`;
  if (what === undefined && !whole) {
    if (changed === 0) return say`The same setup twice: nothing changed that could be compared.`;
    return cause === undefined
      ? say`No comparable figure changed, although ${count(changed)} setting[s] changed at once.`
      : say`Changing ${cause} had no effect that could be compared.`;
  }
  if (changed === 0)
    return what === undefined
      ? say`The same setup twice: nothing changed.`
      : say`The same setup twice, but the results differ: ${what}. That is the noise of this machine.`;
  if (what === undefined)
    return cause === undefined
      ? say`Nothing changed measurably, although ${count(changed)} setting[s] changed at once.`
      : say`Changing ${cause} affected neither capacity, speed nor recall.`;
  return cause === undefined
    ? say`The other setup as a whole changed ${what}. ${count(changed)} setting[s] changed at once, so no single one can be named as the cause.`
    : say`Changing ${cause} affected ${what}.`;
}

function differingFields(one: LadderRecord, other: LadderRecord): LadderComparison["differing"] {
  const { setup: a } = one.header;
  const { setup: b } = other.header;
  const fields = [...new Set([...Object.keys(a), ...Object.keys(b)])]
    .filter((field) => !notKeys.has(field) && a[field] !== b[field])
    .sort()
    .map((field) => ({ field, first: a[field] ?? "", other: b[field] ?? "" }));
  const where = fields.some(({ field }) => field === "machine") ? undefined : machines(one, other);
  return where === undefined ? fields : [...fields, where];
}

/**
 * Two machines may have the same processor: then their memory tells. Of servers elsewhere only the address is known, and
 * two addresses are taken for two machines.
 */
function machines(
  { header: one }: LadderRecord,
  { header: other }: LadderRecord,
): LadderComparison["differing"][number] | undefined {
  const local = one.setup["machine"] !== undefined && other.setup["machine"] !== undefined;
  const elsewhere = one.setup["machine"] === undefined && other.setup["machine"] === undefined;
  const whole = ({ machine }: LadderHeader): string =>
    `${machine.cpu} (${machine.logicalCpus}), ${formatBytes(machine.memoryBytes)}`;
  const name = local ? whole : hostOf;
  return (local || elsewhere) && name(one) !== name(other)
    ? { field: "machine", first: name(one), other: name(other) }
    : undefined;
}

/** Without the port: one machine may serve two setups. */
const hostOf = ({ url }: LadderHeader): string =>
  /^\w+:\/\/(?:[^@/]*@)?(\[[^\]]*\]|[^:/]*)/.exec(url)?.[1] ?? url;

/** Nothing more will come: all runs at the target are there, or the system failed. */
const hasEnded = (record: LadderRecord): boolean =>
  judgeLadder(record).complete || record.steps.at(-1)?.failure !== undefined;

const longest = (record: LadderRecord): number =>
  largest(
    rungResults(record)
      .filter((rung) => !rung.failed)
      .map((rung) => rung.tokens),
    0,
  );

function speedChanges(first: LadderRecord, other: LadderRecord): readonly SpeedChange[] {
  const others = rungResults(other);
  return rungResults(first).flatMap((a): SpeedChange[] => {
    const b = others.find(({ tokens }) => tokens === a.tokens);
    if (b === undefined) return [];
    const { tokens } = a;
    const read: SpeedChange[] =
      a.prefillSeconds !== undefined && b.prefillSeconds !== undefined && b.prefillSeconds > 0
        ? [{ tokens, kind: "prefill", ratio: a.prefillSeconds / b.prefillSeconds }]
        : [];
    const wrote: SpeedChange[] =
      a.generationTokensPerSecond !== undefined && b.generationTokensPerSecond !== undefined
        ? [{ tokens, kind: "generation", ratio: b.generationTokensPerSecond / a.generationTokensPerSecond }]
        : [];
    return [...read, ...wrote];
  });
}

/** Pairs each canary with itself under the other setup. Needs the same plan: the same seeds make the same canaries. */
function recallChange(first: LadderRecord, other: LadderRecord): RecallChange {
  let onlyFirst = 0;
  let onlyOther = 0;
  let pairs = 0;
  if (samePrompts(first, other)) {
    const others = latest(other.steps);
    for (const step of latest(first.steps)) {
      const twin = others.find(
        (s) => s.tokens === step.tokens && s.run === step.run && s.purpose === step.purpose,
      );
      for (const canary of step.canaries ?? []) {
        const same = twin?.canaries?.find(({ key }) => key === canary.key);
        if (same === undefined) continue;
        pairs++;
        if (canary.outcome === "correct" && same.outcome !== "correct") onlyFirst++;
        if (canary.outcome !== "correct" && same.outcome === "correct") onlyOther++;
      }
    }
  }
  return { onlyFirst, onlyOther, pairs, p: mcNemar(onlyFirst, onlyOther) };
}

function samePrompts(one: LadderRecord, other: LadderRecord): boolean {
  const { plan: a } = one.header;
  const { plan: b } = other.header;
  return (
    a.seed === b.seed &&
    one.header.fillerHash === other.header.fillerHash &&
    JSON.stringify([a.canaries, a.filler, a.constraints]) ===
      JSON.stringify([b.canaries, b.filler, b.constraints])
  );
}

function notesOn(one: LadderRecord, other: LadderRecord, changed: readonly string[]): readonly Text[] {
  const disturbed = [one, other].some((record) => record.steps.some(isDisturbed));
  const kv = changed.some((field) => field.startsWith("cacheType"));
  return [
    ...(samePrompts(one, other)
      ? []
      : [say`The two ladders had different seeds, canaries or filler: their recall is not compared.`]),
    ...(one.header.plan.rungs.join() === other.header.plan.rungs.join()
      ? []
      : [say`The two ladders had different rungs: their capacity is not compared.`]),
    ...([one, other].some((record) => record.steps.some(isUnwatched))
      ? [say`One of them was not monitored: a change in speed may be caused by other programs.`]
      : []),
    ...(disturbed
      ? [
          say`The machine was disturbed in one of them: speeds are listed, but no difference counts as a change.`,
        ]
      : []),
    ...(kv
      ? [say`Recall does not certify a KV cache type: check how far the answers agree before trusting it.`]
      : []),
    ...(judgeLadder(one).complete && judgeLadder(other).complete
      ? []
      : [say`One of them did not complete its runs at the target length.`]),
  ];
}

const disturbedVerdicts: ReadonlySet<MonitorVerdict> = new Set(["contaminated", "drift"]);
const isUnwatched = ({ monitor }: LadderStep): boolean =>
  (monitor?.verdict ?? "unmonitored") === "unmonitored";
const isDisturbed = (step: LadderStep): boolean =>
  step.monitor !== undefined && disturbedVerdicts.has(step.monitor.verdict);
