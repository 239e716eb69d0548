import { parseTree, type Node } from "jsonc-parser";
import { scalarText } from "./scalarText";
import type { MappedText } from "./mappedText";
import { splitMapped, type CommandWord, type SimpleCommand } from "./splitCommandLine";

/** `tasks.json` and its like: objects with a `command` and its `args`. */
export function jsonCommands(text: string): SimpleCommand[] {
  const commands: (readonly SimpleCommand[])[] = [];
  const visit = (node: Node | undefined): void => {
    if (node?.type === "object") commands.push(taskCommands(text, node));
    for (const child of node?.children ?? []) visit(child);
  };
  visit(treeOf(text));
  return commands.flat();
}

/** The words of a list of texts, also of one that is not closed yet. */
export function jsonListWords(list: MappedText): CommandWord[] {
  return listWords(list.text, treeOf(list.text)).map((word) => ({
    ...word,
    ...list.place(word.start, word.end),
    ...(word.inner && { inner: word.inner.through(list) }),
  }));
}

function treeOf(text: string): Node | undefined {
  return isTooDeep(text) ? undefined : parseTree(text, [], { allowTrailingComma: true });
}

const maxDepth = 500;

/** The parser calls itself for every level. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (const [part] of text.matchAll(/"(?:[^"\\\n]|\\.)*"|[[{\]}]/g)) {
    if (part === "[" || part === "{") depth++;
    else if (part === "]" || part === "}") depth--;
    if (depth > maxDepth) return true;
  }
  return false;
}

/** With arguments, or as a process, the command is one word; otherwise it is a line for the shell. */
function taskCommands(text: string, object: Node): SimpleCommand[] {
  const [command, args] = [textOf(text, field(object, "command")), field(object, "args")];
  if (command === undefined) return [];
  const rest = listWords(text, args);
  const isProcess = field(object, "type")?.value === "process";
  if (rest.length === 0 && !isProcess) return splitMapped(command, "posix");
  return [{ words: [wordOf(command, isProcess), ...rest] }];
}

function listWords(text: string, list: Node | undefined): CommandWord[] {
  if (list?.type !== "array") return [];
  return (list.children ?? []).flatMap((item) => {
    const mapped = textOf(text, item);
    return mapped === undefined ? [] : [wordOf(mapped, false)];
  });
}

/** VS Code replaces `${…}` in every task, a shell more than that. */
function wordOf(mapped: MappedText, isProcess: boolean): CommandWord {
  const value = mapped.text;
  return {
    value,
    ...mapped.place(0, value.length),
    ...((isProcess ? /\$/ : /[$`*?]|^~/).test(value) && { expands: true }),
    ...(/\s/.test(value) && { inner: mapped }),
  };
}

/** A text; one that is quoted in another way is an object with its `value`. Half-typed ones are left out. */
function textOf(text: string, node: Node | undefined): MappedText | undefined {
  if (node?.type === "object") return textOf(text, field(node, "value"));
  if (node?.type !== "string") return undefined;
  const source = text.slice(node.offset, node.offset + node.length);
  if (!/^"[^]*"$/.test(source)) return undefined;
  return scalarText(String(node.value), source, node.offset, "double");
}

function field(object: Node, name: string): Node | undefined {
  return object.children?.find(({ children }) => children?.[0]?.value === name)?.children?.[1];
}
