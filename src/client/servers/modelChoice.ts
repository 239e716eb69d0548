import { env, QuickPickItemKind, window } from "vscode";
import { formatBytes } from "../../core/format";
import { say } from "../../core/text";
import { pickWhileSearching } from "../editor/quickPick";
import { nothingShown, shownName, together } from "../../core/shown";
import type { PickItem } from "../editor/screen";
import { localized } from "../editor/vscodeText";

/** A GGUF file that was found; `bytes` of all its parts. */
export interface ModelCandidate {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly quantisation?: string;
  /** Which of the usual places it lies in. */
  readonly place: string;
}

interface ModelItem extends PickItem {
  readonly path: string | undefined;
}

/** Asks for a model, newest file first. Undefined where the user chose nothing. */
export async function chooseModel(
  current: string,
  find: (signal: AbortSignal) => Promise<readonly ModelCandidate[]>,
): Promise<string | undefined> {
  const chosen = await pickWhileSearching<ModelItem>(
    {
      title: localized(say`Choose model`),
      placeholder: localized(say`GGUF files in the usual places, newest first`),
    },
    [
      { label: nothingShown, kind: QuickPickItemKind.Separator, path: undefined },
      { label: localized(say`Choose a file …`), alwaysShow: true, path: undefined },
    ],
    async (signal) =>
      (await find(signal))
        .toSorted((a, b) => b.modifiedMs - a.modifiedMs)
        .map((model) => ({
          label: shownName(model.name),
          description: together(
            [
              shownName(model.quantisation ?? ""),
              shownName(formatBytes(model.bytes, env.language)),
              shownName(model.place),
              ...(model.path === current ? [localized(say`current`)] : []),
            ],
            " · ",
          ),
          detail: shownName(model.path),
          path: model.path,
        })),
  );
  if (chosen === undefined) return undefined;
  return chosen.path ?? browse();
}

async function browse(): Promise<string | undefined> {
  const [file] =
    (await window.showOpenDialog({
      title: localized(say`Choose model`),
      filters: { GGUF: ["gguf"] },
      canSelectMany: false,
    })) ?? [];
  return file?.fsPath;
}
