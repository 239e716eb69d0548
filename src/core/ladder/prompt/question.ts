/** Shown where the value belongs: six digits like a value, but none begins with 0. */
export const valuePlaceholder = "000000";

/** What stands before the notes. The salt makes every run's prompt new to any cache. */
export const introduction = (salt: string): string =>
  `Notes ${salt}\nBelow are notes. Somewhere in them are registry entries and rules. Questions follow at the end.\n\n`;

/** Asks for all values at once, as one JSON object. */
export function recallQuestion(keys: readonly string[]): string {
  const skeleton = keys.map((key) => `"${key}": "${valuePlaceholder}"`).join(", ");
  return [
    "\n\n### Question",
    `Answer from the notes above only. Reply with this JSON object and nothing else, with every ${valuePlaceholder} replaced by the value of that registry entry:`,
    `{${skeleton}}`,
  ].join("\n");
}

/** Asks for what the constraints are and for a change of code that keeps them. */
export function constraintQuestion(module: string): string {
  return [
    "\n\n### Question",
    `The notes above state three rules for the module "${module}". Write one JavaScript function that keeps all three: it takes an array of numbers named values and returns their sum. Loop over the array. Reply with one code block and nothing else.`,
  ].join("\n");
}
