import { count, say } from "../text";
import type { Text } from "../text";

/** How long ago something was measured. A clock that was set back makes nothing lie in the future. */
export function ageText(ageSeconds: number): Text {
  const minutes = Math.round(ageSeconds / 60);
  if (minutes < 2) return say`just now`;
  if (minutes < 100) return say`${count(minutes)} minutes ago`;
  const hours = Math.round(ageSeconds / 3600);
  if (hours < 36) return say`${count(hours)} hours ago`;
  return say`${count(Math.round(ageSeconds / 86_400))} days ago`;
}
