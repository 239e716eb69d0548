import { window } from "vscode";
import type { OfferedModel } from "../../app/servers";
import { say } from "../../core/text";
import { localized } from "../editor/vscodeText";

/**
 * Which of several models of a router or of llama-swap is meant; `""` where there is no choice, undefined where the user
 * chose nothing.
 */
export async function chooseOfferedModel(
  models: readonly OfferedModel[],
  current: string,
): Promise<string | undefined> {
  if (models.length < 2) return models[0]?.id ?? "";
  const chosen = await window.showQuickPick(
    models.map(({ id, loaded }) => ({
      label: id,
      description: [loaded ? localized(say`loaded`) : "", id === current ? localized(say`current`) : ""]
        .filter((part) => part !== "")
        .join(" · "),
    })),
    { title: localized(say`Which of its models is meant?`) },
  );
  return chosen?.label;
}
