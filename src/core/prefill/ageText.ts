import { count, say } from "../text";
import type { Text } from "../text";

/** Two clocks of one machine differ by less. */
const aheadSeconds = 120;

/** How long ago something was measured; after a clock was set back, nobody knows. */
export function ageText(ageSeconds: number): Text {
  if (ageSeconds < -aheadSeconds) return say`at an unknown time (this clock was set back)`;
  const minutes = Math.round(ageSeconds / 60);
  if (minutes < 2) return say`just now`;
  if (minutes < 100) return say`${count(minutes)} minutes ago`;
  const hours = Math.round(ageSeconds / 3600);
  if (hours < 36) return say`${count(hours)} hours ago`;
  return say`${count(Math.round(ageSeconds / 86_400))} days ago`;
}
