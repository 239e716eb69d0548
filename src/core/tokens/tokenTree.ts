import type { CountedFile } from "./tokenCount";

/** A folder or file with the tokens under it; children come largest first. */
export interface TokenNode {
  /** Shown name; a chain of folders that hold nothing else is one node ("src/core"). */
  readonly name: string;
  /** Path from the top of the tree, `/` between parts. */
  readonly label: string;
  readonly tokens: number;
  /** Files at or below this node. */
  readonly files: number;
  readonly children: readonly TokenNode[];
  /** Present on files only. */
  readonly file?: CountedFile;
}

interface Folder {
  readonly folders: Map<string, Folder>;
  readonly files: CountedFile[];
}

/** Folders by the parts of each file's label. */
export function tokenTree(files: readonly CountedFile[]): TokenNode {
  const top: Folder = { folders: new Map(), files: [] };
  for (const counted of files) {
    let folder = top;
    for (const part of counted.file.label.split("/").slice(0, -1)) {
      const next = folder.folders.get(part) ?? { folders: new Map(), files: [] };
      folder.folders.set(part, next);
      folder = next;
    }
    folder.files.push(counted);
  }
  return folderNode("", "", top);
}

function folderNode(name: string, label: string, folder: Folder): TokenNode {
  const [only] = folder.folders;
  if (name !== "" && only !== undefined && folder.folders.size === 1 && folder.files.length === 0) {
    return folderNode(`${name}/${only[0]}`, `${label}/${only[0]}`, only[1]);
  }
  const children = [
    ...Array.from(folder.folders, ([part, child]) => folderNode(part, join(label, part), child)),
    ...folder.files.map(fileNode),
  ].sort((a, b) => b.tokens - a.tokens || (a.name < b.name ? -1 : 1));
  return {
    name,
    label,
    children,
    tokens: children.reduce((sum, child) => sum + child.tokens, 0),
    files: children.reduce((sum, child) => sum + child.files, 0),
  };
}

function fileNode(counted: CountedFile): TokenNode {
  const label = counted.file.label;
  return {
    name: label.slice(label.lastIndexOf("/") + 1),
    label,
    tokens: counted.tokens,
    files: 1,
    children: [],
    file: counted,
  };
}

const join = (label: string, part: string): string => (label === "" ? part : `${label}/${part}`);
