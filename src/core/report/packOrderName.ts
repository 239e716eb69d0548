import { say, type Text } from "../text";
import type { PackOrder } from "../tokens/packOrder";

export const packOrderNames: Record<PackOrder, Text> = {
  walk: say`as listed`,
  importantFirst: say`important first`,
  importantLast: say`important last`,
};
