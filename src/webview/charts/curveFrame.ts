/** Room around a curve for the labels of its axes, in CSS pixels. */
export const left = 58;
const right = 14;
export const below = 26;

export const plotWidth = (width: number): number => Math.max(80, width - left - right);

/** Labels at the ends of the depth axis stay inside the picture. */
export function anchor(at: number, width: number): "start" | "middle" | "end" {
  if (at < 12) return "start";
  return at > width - 30 ? "end" : "middle";
}
