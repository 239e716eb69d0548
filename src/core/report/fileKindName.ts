import { say, type Text } from "../text";
import type { FileKind } from "../files/fileKinds";

const names: Record<FileKind, Text> = {
  lock: say`lock file`,
  generated: say`generated`,
  minified: say`minified`,
  vendored: say`vendored`,
  data: say`data`,
  locale: say`translations`,
  test: say`test`,
  duplicate: say`near duplicate`,
};

/** Why a prompt may do without a file, in a word or two. */
export const fileKindName = (kind: FileKind): Text => names[kind];
