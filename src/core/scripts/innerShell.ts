import { programIndex } from "./serverCommand";
import { splitMapped, type CommandWord, type SimpleCommand } from "./splitCommandLine";

/** Each command of a script gets them all. */
const mostAssignments = 100;

/** Commands as they are run: `sh -c "…"` stands for the commands in its text. */
export function withInnerCommands(commands: readonly SimpleCommand[]): SimpleCommand[] {
  return commands.flatMap((command) => {
    const { words } = command;
    const program = programIndex(words.map(({ value }) => value));
    const script = scriptOf(words.slice(program));
    if (script?.inner === undefined) return [command];
    const assignments = words
      .slice(0, program)
      .filter(({ value }) => /^[A-Za-z_]\w*=/.test(value))
      .slice(-mostAssignments);
    return splitMapped(script.inner, "posix").map((inner) => ({
      ...command,
      words: inner.words.some(({ value }) => value.includes("llama"))
        ? [...assignments, ...inner.words]
        : inner.words,
    }));
  });
}

function scriptOf([shell, ...words]: readonly CommandWord[]): CommandWord | undefined {
  if (shell === undefined || !/(?:^|[\\/])(?:ba|da|z|a|k)?sh(?:\.exe)?$/.test(shell.value)) return undefined;
  let hasScript = false;
  for (let index = 0; index < words.length; index++) {
    const word = words[index];
    const options = /^[-+](\w+)$/.exec(word?.value ?? "")?.[1];
    if (options === undefined) return hasScript && word?.value !== "--" ? word : undefined;
    hasScript ||= options.includes("c");
    // -o names a setting
    if (options.endsWith("o")) index++;
  }
  return undefined;
}
