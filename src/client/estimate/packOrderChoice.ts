import { say } from "../../core/text";
import { packOrders, type PackOrder } from "../../core/tokens/packOrder";
import { pick } from "../editor/screen";
import { localized } from "../editor/vscodeText";
import { packOrderNames } from "../../core/report/names";

/** The order that is named, else the one the user picks. */
export async function choosePackOrder(current: PackOrder, named: unknown): Promise<PackOrder | undefined> {
  const known = packOrders.find((order) => order === named);
  if (known !== undefined) return known;
  const items = packOrders.map((order) => ({
    order,
    label: localized(packOrderNames[order]),
    ...(order === current && { description: localized(say`now`) }),
  }));
  const picked = await pick(items, {
    title: localized(say`Order of the files in the prompt`),
    placeHolder: localized(
      say`Models recall the beginning and the end of a long prompt better than its middle.`,
    ),
  });
  return picked?.order;
}
