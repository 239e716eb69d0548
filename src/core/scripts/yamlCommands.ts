import { isMap, isScalar, isSeq, type YAMLMap } from "yaml";
import { containerCommands } from "./containerCommand";
import { withMacros, type Macros } from "./llamaSwapMacros";
import type { MappedText, Place } from "./mappedText";
import { splitMapped, type CommandWord, type SimpleCommand } from "./splitCommandLine";
import { YamlDocument, type PlacedMap, type YamlValue } from "./yamlDocument";

const names = new Set(["cmd", "macros", "command", "args", "entrypoint", "image", "environment", "env"]);

/** A configuration that people write is shorter; what a program printed is not worth the time. */
const maxDocument = 2 ** 18;

/** `cmd` of llama-swap; `entrypoint`, `command`, `args` and `image` of Docker Compose and Kubernetes. */
export function yamlCommands(text: string): SimpleCommand[] {
  return documentsIn(text).flatMap(({ start, end }) => {
    const part = text.slice(start, end);
    if (part.length > maxDocument || !part.includes("llama")) return [];
    const document = new YamlDocument(part, start, names);
    const root = document.maps[0]?.map;
    return document.maps.flatMap((placed) =>
      document.spend(1)
        ? [...swapCommands(document, placed.map, root), ...serviceCommands(document, placed)]
        : [],
    );
  });
}

/** A line that begins with `---` or `...` ends a document, also within a text. */
function documentsIn(text: string): Place[] {
  const starts = [0, ...Array.from(text.matchAll(/^(?:---|\.\.\.)(?=\s|$)/gm), ({ index }) => index)];
  return starts.map((start, index) => ({ start, end: starts[index + 1] ?? text.length }));
}

/** llama-swap leaves out lines that are comments, and blanks stand for its line ends, continued or not. */
function swapCommands(document: YamlDocument, map: YAMLMap, root: YAMLMap | undefined): SimpleCommand[] {
  const value = document.fields(map).get("cmd");
  if (value === undefined) return [];
  const written = document.scalar(value.node);
  if (written === undefined) return commandOf(listWords(document, value), value.used);
  const text = withMacros(written, macrosOf(document, root, map), (characters) =>
    document.spend(characters),
  ).blanked(/^[ \t]*#.*$/gm);
  const words = wordsOf(text);
  const first = /\S+/.exec(written.text);
  const own = first === null ? undefined : written.place(first.index, first.index + first[0].length);
  const isOwn = words[0]?.start === own?.start;
  return commandOf(words, value.used ?? (isOwn ? undefined : own));
}

function macrosOf(document: YamlDocument, ...maps: readonly (YAMLMap | undefined)[]): Macros {
  const macros = new Map<string, MappedText>();
  for (const map of maps) {
    const list = map && document.fields(map).get("macros")?.node;
    if (!isMap(list)) continue;
    for (const [name, { node }] of document.entries(list)) {
      const text = document.scalar(node);
      if (text !== undefined) macros.set(name, text.blanked(/^[ \t]*#.*$/gm));
    }
  }
  return macros;
}

function serviceCommands(document: YamlDocument, { map, path }: PlacedMap): SimpleCommand[] {
  const fields = document.fields(map);
  const part = (name: string) => {
    const value = fields.get(name);
    const text = value && document.scalar(value.node);
    const isGiven = text !== undefined || isSeq(value?.node);
    if (value === undefined || !isGiven) return undefined;
    const words = text === undefined ? listWords(document, value) : wordsOf(text);
    return { words, ...(value.used && { used: value.used }) };
  };
  const [image, entrypoint, command, args] = [
    part("image"),
    part("entrypoint"),
    part("command"),
    part("args"),
  ];
  const [first] = image?.words ?? [];
  const isPod = path.at(-1) === "[]" && /^(?:init|ephemeral)?containers$/i.test(path.at(-2) ?? "");
  // what Kubernetes calls a command is an entrypoint to Docker
  const isCommandEntrypoint = isPod || args !== undefined;
  return containerCommands({
    ...(first && { image: { word: first, ...(image?.used && { used: image.used }) } }),
    entrypoint: isCommandEntrypoint ? command : entrypoint,
    arguments: isCommandEntrypoint ? args : command,
    environment: [
      ...environmentWords(document, fields.get("environment")),
      ...environmentWords(document, fields.get("env")),
    ],
    isImageKnown: isPod || path.at(-2) === "services",
  });
}

function commandOf(words: readonly CommandWord[], used: Place | undefined): SimpleCommand[] {
  // a program alone gets its arguments from elsewhere
  return words.length < 2 ? [] : [{ words, ...(used && { used }) }];
}

/** Nothing of a shell but quotes and escapes is known there. */
function wordsOf(text: MappedText): CommandWord[] {
  return splitMapped(text.blanked(/\n|\\(?=[ \t\r]*(?:\n|$))/g), "words").flatMap(({ words }) => words);
}

function listWords(document: YamlDocument, { node }: YamlValue): CommandWord[] {
  if (!isSeq(node) || !document.spend(node.items.length)) return [];
  return node.items.flatMap((item): CommandWord[] => {
    const value = document.value(item)?.node;
    const text = document.scalar(value);
    return text === undefined ? [] : [wordOf(text)];
  });
}

function wordOf(text: MappedText): CommandWord {
  const value = text.text;
  return {
    value,
    ...text.place(0, value.length),
    ...(value.includes("$") && { expands: true }),
    ...(/\s/.test(value) && { inner: text }),
  };
}

/** `NAME: value`, `- NAME=value` or `- name: NAME` with `value: …`, as words in front of a command. */
function environmentWords(document: YamlDocument, value: YamlValue | undefined): CommandWord[] {
  const node = value?.node;
  const assignment = (name: string, text: MappedText | undefined): CommandWord[] =>
    text === undefined || !/^[A-Za-z_]\w*$/.test(name)
      ? []
      : [{ ...wordOf(text), value: `${name}=${text.text}` }];
  if (isMap(node)) {
    return document.entries(node).flatMap(([name, each]) => assignment(name, document.scalar(each.node)));
  }
  if (!isSeq(node) || !document.spend(node.items.length)) return [];
  return node.items.flatMap((item) => {
    const each = document.value(item)?.node;
    if (isMap(each)) {
      const entries = new Map(document.entries(each));
      const name = document.scalar(entries.get("name")?.node)?.text;
      return assignment(name ?? "", document.scalar(entries.get("value")?.node));
    }
    const text = isScalar(each) ? document.scalar(each) : undefined;
    return text !== undefined && /^[A-Za-z_]\w*=/.test(text.text) ? [wordOf(text)] : [];
  });
}
