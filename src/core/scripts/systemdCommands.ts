import { append } from "../lists";
import { MappedText } from "./mappedText";
import { withShellVariables } from "./shellVariables";
import { splitMapped, type CommandWord, type SimpleCommand } from "./splitCommandLine";

/** `ExecStart=` of a systemd unit, with what its `Environment=` sets. */
export function systemdCommands(text: string): SimpleCommand[] {
  // same length: a backslash at the end of a line goes on with the next
  const joined = text.replaceAll(/\\\r?\n/g, (end) => " ".repeat(end.length));
  const environment: CommandWord[] = [];
  const started: (readonly CommandWord[])[] = [];
  for (const line of joined.matchAll(/^[ \t]*(Environment|ExecStart(?:Pre|Post)?)[ \t]*=[ \t]*[-@:+!]*/gm)) {
    const start = line.index + line[0].length;
    const end = joined.indexOf("\n", start);
    const value = new MappedText(start).addVerbatim(joined.slice(start, end < 0 ? undefined : end), start);
    const words = splitMapped(value, "words").flatMap((command) => command.words);
    if (line[1] === "Environment") append(environment, words.slice(0, mostVariables));
    else
      started.push(words.map((word) => (/\$\w|\$\{/.test(word.value) ? { ...word, expands: true } : word)));
  }
  const set = environment.filter(({ value }) => /^[A-Za-z_]\w*=/.test(value)).slice(-mostVariables);
  const own = set.filter(({ value }) => value.startsWith("LLAMA_"));
  const assigned = set.map((word) => ({ words: [word] }));
  return withShellVariables(
    [...assigned, ...started.map((words) => ({ words }))],
    // `${NAME}` stays one word, `$NAME` is split
    ({ value }) => value.includes("${"),
  )
    .slice(assigned.length)
    .map(({ words }) => ({ words: [...own, ...words] }));
}

/** Each command of a unit gets them all. */
const mostVariables = 100;
