import { smallest } from "../lists";

/** Number of insertions, deletions, changes and swaps of neighbours between two words, given up above `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let best = Math.min((row[j - 1] ?? 0) + 1, (last[j] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(best);
    }
    if (smallest(row) > limit) return limit + 1;
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? limit + 1;
}

/** The name the user most likely meant, or nothing where none is close. */
export function closestName(word: string, names: readonly string[]): string | undefined {
  const bare = (text: string): string => text.replace(/^-+/, "").replaceAll("_", "-").toLowerCase();
  const wanted = bare(word);
  if (wanted.length < 2 || wanted.length > 60) return undefined;
  const limit = wanted.length <= 4 ? 1 : wanted.length <= 8 ? 2 : 3;
  let found: string | undefined;
  let best = limit + 1;
  for (const name of names) {
    const distance = editDistance(wanted, bare(name), Math.min(limit, best));
    if (distance < best) {
      best = distance;
      found = name;
    }
  }
  return found;
}
