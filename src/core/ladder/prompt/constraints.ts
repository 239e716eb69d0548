import type { LadderRandom } from "./ladderRandom";

export type ConstraintPlace = "start" | "middle" | "end";

/** Three rules that a program can check in a few lines of code, each told in one line of the prompt. */
export interface ConstraintSet {
  readonly module: string;
  /** Every function's name begins with it. */
  readonly prefix: string;
  /** Must not be called. */
  readonly forbidden: string;
  /** The field that the returned object must have, besides nothing else. */
  readonly field: string;
}

export interface ConstraintResult {
  readonly place: ConstraintPlace;
  readonly kept: boolean;
}

export const constraintPlaces: readonly { readonly place: ConstraintPlace; readonly at: number }[] = [
  { place: "start", at: 0.05 },
  { place: "middle", at: 0.52 },
  { place: "end", at: 0.94 },
];

const modules = "ledger harvest compass gazette weaver pilot tally orchard sextant almanac".split(" ");
const prefixes = "acme nova kilo zeta orbit delta sigma lumen quark tango".split(" ");
const forbidden = ["reduce", "forEach", "map", "eval", "setTimeout", "parseInt"];
const returned = "total answer outcome amount figure grand".split(" ");

/** Rules for a module of their own; `used` are the modules that have rules already. */
export function makeConstraints(random: LadderRandom, used: Set<string>): ConstraintSet {
  const left = modules.filter((name) => !used.has(name));
  const base = random.pick(left.length > 0 ? left : modules);
  const module = left.length > 0 ? base : `${base}${used.size}`;
  used.add(module);
  return {
    module,
    prefix: `${random.pick(prefixes)}_`,
    forbidden: random.pick(forbidden),
    field: random.pick(returned),
  };
}

export function constraintLine(set: ConstraintSet, place: ConstraintPlace): string {
  const subject = `Rule for the module "${set.module}":`;
  switch (place) {
    case "start":
      return `${subject} every function name begins with ${set.prefix} there.\n`;
    case "middle":
      return `${subject} ${set.forbidden} is never called there.\n`;
    case "end":
      return `${subject} every function returns an object with the single field ${set.field}.\n`;
  }
}

/** Which of the three the code keeps. Text around a code block is passed over; no code keeps none. */
export function checkConstraints(set: ConstraintSet, answer: string): readonly ConstraintResult[] {
  const code = withoutComments(codeOf(answer));
  const names = functionNames(code);
  const returns = returnedObjects(code);
  return [
    { place: "start", kept: names.length > 0 && names.every((name) => name.startsWith(set.prefix)) },
    { place: "middle", kept: names.length > 0 && !calls(code, set.forbidden) },
    {
      place: "end",
      kept: returns.length > 0 && returns.every((keys) => keys.length === 1 && keys[0] === set.field),
    },
  ];
}

function codeOf(answer: string): string {
  const block = /```[a-zA-Z]*[ \t]*\r?\n([\s\S]*?)(?:```|$)/.exec(answer.slice(0, 100_000));
  return block?.[1] ?? answer.slice(0, 100_000);
}

const withoutComments = (code: string): string =>
  code.replace(/\/\*[\s\S]*?\*\//g, " ").replace(/\/\/[^\n]*/g, " ");

function functionNames(code: string): readonly string[] {
  const declared = code.matchAll(/\bfunction\s*\*?\s*([A-Za-z_$][\w$]*)/g);
  const assigned = code.matchAll(
    /\b(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*=\s*(?:async\s*)?(?:function\b|\([^()]*\)\s*=>|[A-Za-z_$][\w$]*\s*=>)/g,
  );
  return [...declared, ...assigned].map((match) => match[1] ?? "");
}

const calls = (code: string, name: string): boolean => new RegExp(`(?:^|[^\\w$])${name}\\s*\\(`).test(code);

/** The keys of every object literal that is returned; a return of something else has the key "". */
function returnedObjects(code: string): readonly (readonly string[])[] {
  return [...code.matchAll(/\breturn\b/g)].map((match) => {
    const rest = code.slice(match.index + match[0].length).replace(/^[\s(]+/, "");
    if (!rest.startsWith("{")) return [""];
    return topLevelParts(rest.slice(1))
      .map((part) => part.trim())
      .filter((part) => part !== "")
      .map((part) => part.replace(/\s*:.*$/s, "").replace(/^["']|["']$/g, ""));
  });
}

/** What stands between the commas of an object literal, up to its closing brace. */
function topLevelParts(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    if (`"'\``.includes(character)) {
      const closing = text.indexOf(character, at + 1);
      at = closing < 0 ? text.length : closing;
    } else if ("([{".includes(character)) depth++;
    else if (depth > 0 && ")]}".includes(character)) depth--;
    else if (depth === 0 && (character === "," || character === "}")) {
      parts.push(text.slice(from, at));
      from = at + 1;
      if (character === "}") break;
    }
  }
  return parts;
}
