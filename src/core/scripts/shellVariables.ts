import { MappedText } from "./mappedText";
import { splitCommands, splitMapped, type CommandWord, type SimpleCommand } from "./splitCommandLine";

/** What a script sets once to a text; a name that is set twice may hold either, and counts as unknown. */
type Values = ReadonlyMap<string, string | undefined>;

/** Variables made of variables; one made of itself ends here. */
const deepest = 4;
/** Characters put in; a short script must not become a long one. */
const mostPutIn = 100_000;
/** Of one list. */
const mostItems = 1000;

const setters = /^(?:export|readonly|local|declare|typeset)$/;
const variable = /\$(?:(\w+)|\{(\w+)(?::?-([^${}]*))?\})/g;

/** The commands of a POSIX script; variables and lists that the script itself sets to plain texts are put in. */
export function shellCommands(text: string): SimpleCommand[] {
  const lists = new Map<string, readonly CommandWord[] | undefined>();
  const withoutLists = text.replaceAll(
    /(?<![\w$"'])(\w+)(\+?)=\(([^()]*)\)/g,
    (whole, name: string, added: string, items: string, at: number) => {
      const start = at + whole.length - 1 - items.length;
      const words = splitMapped(new MappedText(start).addVerbatim(items, start), "posix");
      const isKnown = added === "" && !lists.has(name);
      lists.set(name, isKnown ? words.flatMap((command) => command.words) : undefined);
      return " ".repeat(whole.length);
    },
  );
  const commands = splitCommands(withoutLists, "posix").map((command) => ({
    ...command,
    words: command.words.flatMap((word) => {
      const name = /^\$\{(\w+)\[[@*]\]\}$/.exec(word.value)?.[1];
      const items = name === undefined ? undefined : lists.get(name);
      return items !== undefined && items.length <= mostItems ? items : [word];
    }),
  }));
  return withShellVariables(commands, (word) => /["']/.test(text.slice(word.start, word.end)));
}

/** @param isWhole the shell does not split what is put into this word */
export function withShellVariables(
  commands: readonly SimpleCommand[],
  isWhole: (word: CommandWord) => boolean,
): SimpleCommand[] {
  const values = assignedValues(commands);
  if (values.size === 0) return [...commands];
  let room = mostPutIn;
  const put = (word: CommandWord): CommandWord[] => {
    if (word.expands !== true || room <= 0) return [word];
    const value = filled(word.value, values);
    if (value === undefined) return [word];
    room -= value.length;
    const { expands: _, inner: __, ...placed } = word;
    const parts = isWhole(word) ? [value] : value.split(/\s+/).filter((part) => part !== "");
    return parts.map((part) => ({ ...placed, value: part }));
  };
  return commands.map((command) => ({ ...command, words: command.words.flatMap(put) }));
}

function assignedValues(commands: readonly SimpleCommand[]): Values {
  const values = new Map<string, string | undefined>();
  for (const { words } of commands) {
    const own = setters.test(words[0]?.value ?? "") ? words.slice(1) : words;
    const set = own.map(({ value }) => /^([A-Za-z_]\w*)(\+?)=([^]*)$/.exec(value));
    // in front of a program they are for that program alone
    if (set.some((found) => found === null)) continue;
    for (const found of set) {
      const [, name = "", added, value = ""] = found ?? [];
      const isPlain = added === "" && !values.has(name) && !/\$\(|`/.test(value);
      values.set(name, isPlain ? value : undefined);
    }
  }
  return values;
}

/** undefined where a variable is not known. */
function filled(text: string, values: Values, depth = 0): string | undefined {
  if (depth > deepest || /\$\(|`|[*?]/.test(text)) return undefined;
  let unknown = 0;
  const result = text.replaceAll(
    variable,
    (whole, plain: string | undefined, braced: string | undefined, otherwise: string | undefined) => {
      const value = values.get(plain ?? braced ?? "");
      const inner = value === undefined ? otherwise : filled(value, values, depth + 1);
      if (inner === undefined) unknown++;
      return inner ?? whole;
    },
  );
  return unknown === 0 && !result.includes("$") ? result : undefined;
}
