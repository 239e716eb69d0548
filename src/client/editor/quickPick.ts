import type { Shown } from "../../core/shown";
import { emptyPick, type PickItem } from "./screen";

/**
 * A pick list that is there at once and fills when the search ends; leaving it ends the search. What is found comes
 * below the fixed items: a row that moved under the pointer would be chosen by mistake.
 */
export async function pickWhileSearching<T extends PickItem>(
  texts: { readonly title: Shown; readonly placeholder: Shown },
  fixed: readonly T[],
  search: (signal: AbortSignal) => Promise<readonly T[]>,
): Promise<T | undefined> {
  const controller = new AbortController();
  const pick = emptyPick<T>(texts);
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  pick.items = fixed;
  pick.busy = true;
  try {
    return await new Promise<T | undefined>((resolve, reject) => {
      pick.onDidAccept(() => resolve(pick.selectedItems[0]));
      pick.onDidHide(() => resolve(undefined));
      pick.show();
      search(controller.signal).then(
        (found) => {
          const active = pick.activeItems;
          pick.items = [...fixed, ...found];
          if (active.length > 0) pick.activeItems = active;
          pick.busy = false;
        },
        (error: unknown) => {
          pick.busy = false;
          if (!controller.signal.aborted) reject(error instanceof Error ? error : new Error(String(error)));
        },
      );
    });
  } finally {
    controller.abort();
    pick.dispose();
  }
}
