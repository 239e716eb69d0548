import { say } from "../text";
import type { FileMark } from "./fileKinds";
import { matchIgnoreFile, parseIgnoreFile, type IgnoreFile } from "./ignoreRules";

const attributeKinds = {
  "linguist-generated": "generated",
  "linguist-vendored": "vendored",
} as const;

type AttributeName = keyof typeof attributeKinds;

interface AttributeLine {
  readonly pattern: IgnoreFile;
  readonly source: string;
  /** Undefined: said to be unspecified again (`!`). */
  readonly set: ReadonlyMap<AttributeName, boolean | undefined>;
}

/** One .gitattributes file; `folder` is the label of the folder it lies in, "" for the top. */
export interface AttributesFile {
  readonly folder: string;
  readonly lines: readonly AttributeLine[];
}

/** Only what GitHub's linguist reads: linguist-generated and linguist-vendored, set, unset (`-`) or `=true`/`=false`. */
export function parseAttributes(text: string, label: string, ignoreCase = false): AttributesFile {
  const lines = text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .flatMap((line, index): AttributeLine[] => {
      const [pattern, ...attributes] = words(line);
      // git takes no negative patterns here.
      if (pattern === undefined || pattern.startsWith("#") || pattern.startsWith("!")) return [];
      const set = new Map<AttributeName, boolean | undefined>();
      for (const attribute of attributes) {
        const [name, value] = attribute.replace(/^[-!]/, "").split("=", 2);
        if (!isAttribute(name)) continue;
        set.set(
          name,
          attribute.startsWith("!") ? undefined : !attribute.startsWith("-") && value !== "false",
        );
      }
      if (set.size === 0) return [];
      const source = `${label}:${index + 1}: ${line.trim()}`;
      return [{ pattern: parseIgnoreFile(pattern, label, ignoreCase), source, set }];
    });
  return { folder: label.split("/").slice(0, -1).join("/"), lines };
}

/** The deepest file and in it the last line that speaks of the path decides, per attribute. */
export function kindOfAttributes(label: string, files: readonly AttributesFile[]): FileMark | undefined {
  const deepestFirst = filesAbove(label, files);
  for (const name of Object.keys(attributeKinds).filter(isAttribute)) {
    const line = deciding(label, name, deepestFirst);
    if (line?.set.get(name) === true) {
      return { kind: attributeKinds[name], evidence: say`${line.source}` };
    }
  }
  return undefined;
}

/** Whether the attributes say of a file that it is not of that kind, whatever it looks like. */
export function deniedByAttributes(
  label: string,
  kind: FileMark["kind"],
  files: readonly AttributesFile[],
): boolean {
  const name = Object.keys(attributeKinds)
    .filter(isAttribute)
    .find((each) => attributeKinds[each] === kind);
  return name !== undefined && deciding(label, name, filesAbove(label, files))?.set.get(name) === false;
}

const filesAbove = (label: string, files: readonly AttributesFile[]): AttributesFile[] =>
  files
    .filter(({ folder }) => folder === "" || label.startsWith(`${folder}/`))
    .sort((a, b) => b.folder.length - a.folder.length);

function deciding(
  label: string,
  name: AttributeName,
  files: readonly AttributesFile[],
): AttributeLine | undefined {
  for (const { folder, lines } of files) {
    const path = folder === "" ? label : label.slice(folder.length + 1);
    const line = lines.findLast(
      ({ pattern, set }) => set.has(name) && matchIgnoreFile(pattern, path, false) !== undefined,
    );
    if (line !== undefined) return line;
  }
  return undefined;
}

const isAttribute = (name: string | undefined): name is AttributeName =>
  name !== undefined && Object.hasOwn(attributeKinds, name);

/** A pattern with spaces may be quoted as a C string. */
function words(line: string): string[] {
  const trimmed = line.trim();
  const quoted = /^"((?:[^"\\]|\\.)*)"\s*(.*)$/.exec(trimmed);
  if (quoted === null) return trimmed === "" ? [] : trimmed.split(/\s+/);
  return [(quoted[1] ?? "").replace(/\\(.)/g, "$1"), ...(quoted[2] ?? "").split(/\s+/)];
}
