import type { TemplateOrigin } from "../acceptance/templateSource";
import type { PackOrder } from "../tokens/packOrder";
import { say, type Text } from "../text";
import type { ModelSummary } from "./gaugeReport";
import type { FileKind } from "../files/fileKinds";
import type { SkipReason, SkippedFile } from "../files/files";

/** A model's name for people: a server without an alias names its model by the file's path. */
export function modelName({ name }: ModelSummary): string {
  const file = name.split(/[\\/]/).at(-1) ?? name;
  return /\.gguf$/i.test(file) ? file.slice(0, -".gguf".length) : name;
}

/** Where a chat template comes from, in a few words. */
export function templateName(origin: TemplateOrigin): Text {
  switch (origin.from) {
    case "server":
      return say`rendered by the server`;
    case "model":
      return origin.name === undefined ? say`from the model file` : say`${origin.name}, from the model file`;
    case "option":
      return say`from --chat-template`;
    case "file":
      return say`from --chat-template-file`;
    case "builtIn":
      return say`llama.cpp's ${origin.name}`;
    case "fallback":
      return say`ChatML, because the model file has none`;
  }
}

export const packOrderNames: Record<PackOrder, Text> = {
  walk: say`as listed`,
  importantFirst: say`important first`,
  importantLast: say`important last`,
};

const fileKindNames: Record<FileKind, Text> = {
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
export const fileKindName = (kind: FileKind): Text => fileKindNames[kind];

const skipReasonTexts: Record<SkipReason, Text> = {
  ignored: say`excluded by an ignore file`,
  excluded: say`excluded by a setting`,
  binary: say`not text`,
  tooLarge: say`too large`,
  unreadable: say`cannot be read`,
  notAFile: say`not a regular file`,
  linked: say`symbolic link, not followed`,
  symlinkLoop: say`symbolic link to a folder above it`,
  linkedOutside: say`link to a file outside of the workspace`,
  vanished: say`deleted before it was counted`,
  crashRisk: say`a long run of characters may crash llama-server; choose the model's GGUF to count it`,
  tooMany: say`more files than the limit`,
};

/** Why a file or folder was left out, with the rule, size or system error where there is one. */
export function skipReasonText(skipped: SkippedFile): Text {
  const reason = skipReasonTexts[skipped.reason];
  return skipped.detail === undefined ? reason : say`${reason} (${skipped.detail})`;
}
