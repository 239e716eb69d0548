import { kindOfName, worthOf } from "../files/fileKinds";
import type { FileRef } from "../files/files";

/**
 * Models recall the beginning and the end of a long prompt better than its middle, so the files that matter go to one
 * end and lock files, generated code and data to the other. `walk`: as listed.
 */
export type PackOrder = (typeof packOrders)[number];

export const packOrders = ["walk", "importantFirst", "importantLast"] as const;

/** Stable: files that matter alike stay in the order of the walk. */
export function orderForRecall(files: readonly FileRef[], order: PackOrder): readonly FileRef[] {
  if (order === "walk") return files;
  const direction = order === "importantFirst" ? -1 : 1;
  return files
    .map((file, at) => ({ file, at, importance: importance(file.label) }))
    .sort((a, b) => direction * (a.importance - b.importance) || a.at - b.at)
    .map(({ file }) => file);
}

const introductions =
  /^(readme(\..*)?|package\.json|cargo\.toml|pyproject\.toml|go\.mod|cmakelists\.txt|makefile)$/i;

/** Readme and manifest say what a project is and come before its sources; marked files come after by their worth. */
function importance(label: string): number {
  const name = label.slice(label.lastIndexOf("/") + 1);
  const worth = worthOf(kindOfName(label)?.kind);
  return worth === 1 && introductions.test(name) ? 2 : worth;
}
