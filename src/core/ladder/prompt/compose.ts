import { count, say } from "../../text";
import { UserError } from "../../userError";
import { entryLine, lineBeginning, makeCanaries, type Canary } from "./canaries";
import {
  constraintLine,
  constraintPlaces,
  makeConstraints,
  type ConstraintPlace,
  type ConstraintSet,
} from "./constraints";
import type { Filler, Tokenize } from "./filler";
import { LadderRandom } from "./ladderRandom";
import { canariesAt, positionsAt, type LadderPlan } from "../plan/plan";
import { constraintQuestion, introduction, recallQuestion } from "./question";
import type { PlacedCanary } from "./canaries";
import { largest, smallest } from "../../lists";

/** What the server's chat template puts around one user message; nothing where lines are only completed. */
export interface PromptFrame {
  readonly prefix: string;
  readonly suffix: string;
}

/** One length of a chain, ready to be sent. Its notes are a prefix of the next length's notes. */
export interface RungPrompt {
  readonly tokens: number;
  /** With the question about all canaries, or with the longest line to be completed. */
  readonly prompt: readonly number[];
  readonly canaries: readonly PlacedCanary[];
  /** Every value that stands in the notes of this length. */
  readonly values: ReadonlySet<string>;
  readonly constraints?: {
    readonly set: ConstraintSet;
    readonly positions: readonly { readonly place: ConstraintPlace; readonly position: number }[];
    readonly prompt: readonly number[];
  };
  /** The same notes with the question about one canary, in the plan's form. */
  readonly single: (key: string) => Promise<readonly number[]>;
}

interface Event {
  /** Wanted position in the prompt. */
  readonly at: number;
  readonly line: string;
  readonly of: number;
  readonly placed: (position: number, end: number) => void;
}

interface Length {
  readonly tokens: number;
  readonly canaries: readonly Canary[];
  readonly set: ConstraintSet | undefined;
  readonly question: readonly number[];
  /** Tokens of head and notes together. */
  readonly notesEnd: number;
}

/** One run's prompts at several lengths, growing: the notes are composed once, and every length takes their beginning. */
export async function composeChain(
  plan: LadderPlan,
  run: number,
  lengths: readonly number[],
  parts: { readonly frame: PromptFrame; readonly tokenize: Tokenize; readonly filler: Filler },
): Promise<readonly RungPrompt[]> {
  const { frame, tokenize, filler } = parts;
  const asksLines = plan.canaries.question === "line";
  const random = new LadderRandom(plan.seed, "run", run);
  const salt = `${random.below(2 ** 32).toString(36)}${random.below(2 ** 32).toString(36)}`;
  const head = [
    ...(await tokenize(frame.prefix, { bos: true, special: true })),
    ...(await tokenize(introduction(salt), { bos: false, special: false })),
  ];
  const suffix = await tokenize(frame.suffix, { bos: false, special: true });
  const ask = async (question: string): Promise<readonly number[]> => [
    ...(await tokenize(question, { bos: false, special: false })),
    ...suffix,
  ];
  const askOne = (key: string): Promise<readonly number[]> =>
    ask(asksLines ? `\n${lineBeginning(key)}` : recallQuestion([key]));
  const used = { pairs: new Set<string>(), values: new Set<string>() };
  const modules = new Set<string>();
  const sized: Length[] = [];
  for (const tokens of lengths) {
    const own = new LadderRandom(plan.seed, "canaries", run, tokens);
    const canaries = makeCanaries(canariesAt(plan, tokens), plan.canaries.distractors, own, used);
    const set = plan.constraints ? makeConstraints(own, modules) : undefined;
    const keys = own.shuffled(canaries.map(({ key }) => key));
    const question = asksLines
      ? longest(await Promise.all(keys.map(askOne)))
      : await ask(recallQuestion(keys));
    sized.push({ tokens, canaries, set, question, notesEnd: tokens - question.length });
  }
  const placed = new Map<string, number>();
  const events = sized.flatMap((length) => eventsOf(plan, run, length, placed));
  const notes = await composeNotes(head, events, sized, { tokenize, filler, values: used.values });
  return Promise.all(
    sized.map(async (length): Promise<RungPrompt> => {
      const { tokens, notesEnd, set, question } = length;
      const body = notes.slice(0, notesEnd);
      const values = new Set(
        sized
          .flatMap(({ canaries }) => canaries)
          .flatMap((c) => [c, ...(c.twin === undefined ? [] : [c.twin])])
          .filter((entry) => (placed.get(entry.key) ?? Infinity) < notesEnd)
          .map((entry) => entry.value),
      );
      return {
        tokens,
        prompt: [...body, ...question],
        canaries: length.canaries.map((c) => ({ ...c, position: placed.get(c.key) ?? 0 })),
        values,
        ...(set !== undefined && {
          constraints: {
            set,
            positions: constraintPlaces.map(({ place }) => ({
              place,
              position: placed.get(`${set.module}/${place}`) ?? 0,
            })),
            prompt: [...body, ...(await ask(constraintQuestion(set.module)))],
          },
        }),
        single: async (key) => [...body, ...(await askOne(key))],
      };
    }),
  );
}

const longest = (texts: readonly (readonly number[])[]): readonly number[] =>
  texts.reduce((most, text) => (text.length > most.length ? text : most), []);

/** Where this length's lines want to stand: canaries at their places, twins about half way to the next. */
function eventsOf(
  plan: LadderPlan,
  run: number,
  { tokens, canaries, set, notesEnd }: Length,
  placed: Map<string, number>,
): readonly Event[] {
  const random = new LadderRandom(plan.seed, "places", run, tokens);
  const positions = positionsAt(plan, tokens);
  // a long question at a short length takes the end of the prompt: the places move together
  const shrink = Math.min(1, notesEnd / tokens / 0.97);
  const at = (part: number): number => part * shrink * tokens;
  const step =
    positions.length > 1 ? ((positions.at(-1) ?? 0.9) - (positions[0] ?? 0.1)) / (positions.length - 1) : 0.1;
  const jitter = Math.min(0.01, step / 8);
  const keep =
    (name: string): Event["placed"] =>
    (position) =>
      void placed.set(name, position);
  const order = random.shuffled(canaries);
  const lines = order.flatMap((canary, i): Event[] => {
    const part = (positions[i] ?? 0.5) + (2 * random.next() - 1) * jitter;
    const { twin } = canary;
    const away = (i === order.length - 1 ? -0.5 : 0.5) * step;
    return [
      { at: at(part), line: entryLine(canary.key, canary.value), of: tokens, placed: keep(canary.key) },
      ...(twin === undefined
        ? []
        : [
            {
              at: at(part + away),
              line: entryLine(twin.key, twin.value),
              of: tokens,
              placed: keep(twin.key),
            },
          ]),
    ];
  });
  const rules =
    set === undefined
      ? []
      : constraintPlaces.map(({ place, at: part }) => ({
          at: at(part),
          line: constraintLine(set, place),
          of: tokens,
          placed: keep(`${set.module}/${place}`),
        }));
  return [...lines, ...rules];
}

/**
 * Head and notes up to the longest length; every line as near to its place as sentences allow. Where the lines of several
 * lengths crowd, those of the shorter one come first: they must stand within its notes.
 */
async function composeNotes(
  head: readonly number[],
  events: readonly Event[],
  lengths: readonly Length[],
  {
    tokenize,
    filler,
    values,
  }: { readonly tokenize: Tokenize; readonly filler: Filler; readonly values: ReadonlySet<string> },
): Promise<readonly number[]> {
  const notes = [...head];
  const add = (ids: readonly number[]): void => {
    for (const id of ids) notes.push(id);
  };
  let waiting: Line[] = [];
  for (const event of events.toSorted((p, q) => p.at - q.at)) {
    waiting.push({ ...event, ids: await tokenize(event.line, { bos: false, special: false }) });
  }
  /** What may be added here that is not of this length, so that its lines still fit. */
  const spare = ({ tokens, notesEnd }: Length): number =>
    notesEnd -
    notes.length -
    waiting.reduce((sum, line) => sum + (line.of <= tokens ? line.ids.length : 0), 0);
  const open = (): readonly Length[] => lengths.filter(({ notesEnd }) => notesEnd > notes.length);
  const isFree = (line: Line): boolean =>
    open().every((length) => line.of <= length.tokens || spare(length) >= line.ids.length);
  while (waiting.length > 0) {
    const next = waiting.find(isFree);
    if (next === undefined) {
      // the shortest open length has its lines and no room for another: its notes end in text
      const end = smallest(open().map(({ notesEnd }) => notesEnd));
      add(await filler.about(end - notes.length, values, tokenize));
      continue;
    }
    const room = Math.round(next.at - next.ids.length / 2) - notes.length;
    const filling = smallest(
      open().map((length) => spare(length) - fillerSlack),
      room,
    );
    if (filling > 0) add(await filler.about(filling, values, tokenize));
    const due = waiting.filter((line) => line.at <= next.at && isFree(line));
    const line = due.toSorted((p, q) => p.of - q.of || p.at - q.at)[0] ?? next;
    const end = notes.length + line.ids.length;
    if (end > (lengths.find(({ tokens }) => tokens === line.of)?.notesEnd ?? 0)) throw overlapping(line.of);
    line.placed(notes.length, end);
    add(line.ids);
    waiting = waiting.filter((other) => other !== line);
  }
  const longest = largest(lengths.map(({ notesEnd }) => notesEnd));
  while (notes.length < longest) {
    add(await filler.about(longest - notes.length + fillerSlack, values, tokenize));
  }
  return notes.slice(0, longest);
}

interface Line extends Event {
  readonly ids: readonly number[];
}

/** A sentence may be longer than what was asked for. */
const fillerSlack = 32;

function overlapping(tokens: number): UserError {
  return new UserError(
    "invalidInput",
    say`At ${count(tokens)} token[s] of this model's vocabulary the canaries overlap: there is no room for all their lines.`,
    say`Use longer prompts or fewer canaries in the plan.`,
  );
}
