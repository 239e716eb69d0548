import { splitCommandLine, splitCommands, type CommandWord, type SimpleCommand } from "./splitCommandLine";
import { append } from "../lists";

/**
 * The commands of a PowerShell script as programs get them: lists become words, variables that the script sets to plain
 * texts or lists are put in, `Start-Process` stands for the program it starts. What is not plain stays as it is written.
 */
export function powershellCommands(text: string): SimpleCommand[] {
  const commands = splitCommands(oneStatementPerLine(text), "powershell");
  const variables = assignedValues(commands, text);
  const room = { left: mostPutIn };
  return commands.map(({ words }) => ({
    words: startedProgram(withValues(ranWords(words), variables, room)),
  }));
}

/** An assignment runs what it calls; a plain value is not run. */
function ranWords(words: readonly CommandWord[]): readonly CommandWord[] {
  if (words[1]?.value !== "=") return words;
  const rest = words.slice(2);
  return /^(?:&|Start-Process|saps)$/i.test(rest[0]?.value ?? "") ? rest : [];
}

/** Same length: inside `@( … )` and behind a list's comma lines go on, and brackets, commas and braces are blanks. */
function oneStatementPerLine(text: string): string {
  const parts: string[] = [];
  let lists = 0;
  let starts = false;
  for (const [part] of text.matchAll(tokens)) {
    if (part === "@(") lists++;
    const inList = lists > 0 || starts;
    if ((/^[,)]/.test(part) && inList) || part.startsWith("<#")) parts.push(blanked(part));
    // what a text over lines holds is not read
    else if (/^@["']/.test(part)) parts.push(`$${blanked(part.slice(1))}`);
    else if (part === "@(") parts.push("  ");
    else if (part === "\n" && lists > 0) parts.push(" ");
    // a block's commands are commands of their own
    else if (part === "{" || part === "}") parts.push(";");
    else parts.push(part);
    if (part === ")" && lists > 0) lists--;
    if (part === "\n" && lists === 0) starts = false;
    if (/^(?:Start-Process|saps)$/i.test(part)) starts = true;
  }
  return parts.join("");
}

// quoted texts, comments, escapes and ${names} are left whole; a comma takes the line end behind it along; what is not
// closed goes on to the end
const tokens =
  /@"[ \t]*\r?\n[^]*?(?:\n"@|$)|@'[ \t]*\r?\n[^]*?(?:\n'@|$)|"(?:`[^]|""|[^"`])*"|'(?:''|[^'])*'|<#[^]*?(?:#>|$)|#[^\n]*|`\r?\n|`[^]?|\$\{[^}]{0,256}\}|@\(|,(?:[ \t]*\r?\n)?|[A-Za-z-]+|[^]/g;

const blanked = (text: string): string => text.replace(/[^]/g, " ");

type Variables = ReadonlyMap<string, readonly CommandWord[]>;

/** `$name = …` and parameters' defaults; a name that is set twice may hold either, and counts as unknown. */
function assignedValues(commands: readonly SimpleCommand[], text: string): Variables {
  const values = new Map<string, readonly CommandWord[] | undefined>();
  for (const { words } of commands) {
    for (const [index, word] of words.entries()) {
      const name = /^(?:\[[\w.[\]]+\])?\$(\w+)$/.exec(word.value)?.[1]?.toLowerCase();
      const sign = words[index + 1]?.value;
      // what more is put into it is not followed
      if (name !== undefined && sign === "+=") values.set(name, undefined);
      if (name === undefined || sign !== "=") continue;
      const its = words.slice(index + 2).map(withoutComma);
      const [first] = its;
      const list = first !== undefined && text.slice(words[index + 1]?.end, first.start).includes("@(");
      const plain = list || (its.length === 1 && first !== undefined && isPlain(first, text));
      values.set(name, values.has(name) || !plain ? undefined : its);
      break;
    }
  }
  return new Map(Array.from(values).flatMap(([name, its]) => (its === undefined ? [] : [[name, its]])));
}

const withoutComma = (word: CommandWord): CommandWord => ({ ...word, value: word.value.replace(/,$/, "") });

/** One text or number, neither computed nor made of other variables, and no list without brackets. */
function isPlain({ value, start, end }: CommandWord, text: string): boolean {
  return !/[()$]/.test(value) && !/["'][ \t]*,/.test(text.slice(start, end - 1));
}

/** Words put in for variables; lists of lists would make a short script too long. */
const mostPutIn = 100_000;

function withValues(
  words: readonly CommandWord[],
  variables: Variables,
  room: { left: number },
  depth = 0,
): CommandWord[] {
  return words.flatMap((word) => {
    const name = /^[$@](\w+)$/.exec(word.value)?.[1]?.toLowerCase();
    const values = name === undefined || depth > 3 ? undefined : variables.get(name);
    if (values === undefined || room.left < values.length) return [word];
    room.left -= values.length;
    // one value stands where it is used, a list's items where they are written
    const placed =
      values.length === 1 ? values.map((each) => ({ ...each, start: word.start, end: word.end })) : values;
    return withValues(placed, variables, room, depth + 1);
  });
}

const ownParameters =
  /^-(?:WindowStyle|WorkingDirectory|RedirectStandard(?:Output|Error|Input)|Verb|Credential|Environment)$/i;
const ownSwitches = /^-(?:NoNewWindow|PassThru|Wait|LoadUserProfile|UseNewEnvironment)$/i;

/** Program and arguments of `Start-Process`; every other command as it is. */
function startedProgram(words: readonly CommandWord[]): readonly CommandWord[] {
  const at = words.findIndex(({ value }) => /^(?:Start-Process|saps)$/i.test(value));
  if (at !== 0) return words;
  let program: CommandWord | undefined;
  const args: CommandWord[] = [];
  for (let index = at + 1; index < words.length; index++) {
    const word = words[index];
    const next = words[index + 1];
    if (word === undefined || ownSwitches.test(word.value)) continue;
    if (ownParameters.test(word.value)) index++;
    else if (/^-FilePath$/i.test(word.value)) {
      program = next;
      index++;
    } else if (/^-Arg(?:s|umentList)?$/i.test(word.value)) continue;
    else if (program === undefined) program = word;
    else append(args, splitAgain(word));
  }
  return program === undefined ? words : [program, ...args];
}

/** `Start-Process` joins its arguments with blanks, so one that has blanks becomes several. */
function splitAgain(word: CommandWord): CommandWord[] {
  if (!/\s/.test(word.value)) return [word];
  return splitCommandLine(word.value, "cmd").map((value) => ({ ...word, value }));
}
