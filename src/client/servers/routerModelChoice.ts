import type { OfferedModel } from "../../app/servers";
import { say } from "../../core/text";
import { nothingShown, shownName, together } from "../../core/shown";
import { pick } from "../editor/screen";
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
  const chosen = await pick(
    models.map(({ id, loaded }) => ({
      id,
      label: shownName(id),
      description: together(
        [
          loaded ? localized(say`loaded`) : nothingShown,
          id === current ? localized(say`current`) : nothingShown,
        ],
        " · ",
      ),
    })),
    { title: localized(say`Which of its models is meant?`) },
  );
  return chosen?.id;
}
