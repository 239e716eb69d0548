/** Longer words are not mistyped names. */
const longestWord = 60;
const mostChanges = 3;
const width = longestWord + mostChanges + 2;
let [beforeLast, last, row] = [new Int32Array(width), new Int32Array(width), new Int32Array(width)];

/**
 * Number of insertions, deletions, changes and swaps of neighbours between two words, given up above `limit`. Only places
 * that this many changes can reach are looked at.
 */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  const far = limit + 1;
  for (let j = 0; j <= b.length; j++) last[j] = j;
  for (let i = 1; i <= a.length; i++) {
    const [from, to] = [Math.max(1, i - limit), Math.min(b.length, i + limit)];
    row[from - 1] = from === 1 ? i : far;
    if (to < b.length) row[to + 1] = far;
    let least = row[from - 1] ?? far;
    for (let j = from; j <= to; j++) {
      const same = a.charCodeAt(i - 1) === b.charCodeAt(j - 1);
      let best = Math.min(
        (row[j - 1] ?? far) + 1,
        (last[j] ?? far) + 1,
        (last[j - 1] ?? far) + (same ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, (beforeLast[j - 2] ?? far) + 1);
      }
      row[j] = best;
      if (best < least) least = best;
    }
    if (least > limit) return far;
    [beforeLast, last, row] = [last, row, beforeLast];
  }
  return Math.min(far, last[b.length] ?? far);
}

const bare = (text: string): string => text.replace(/^-+/, "").replaceAll("_", "-").toLowerCase();

const bareNames = new WeakMap<readonly string[], readonly string[]>();

function bareOnes(names: readonly string[]): readonly string[] {
  const known = bareNames.get(names) ?? names.map(bare);
  bareNames.set(names, known);
  return known;
}

/** The name the user most likely meant, or nothing where none is close. */
export function closestName(word: string, names: readonly string[]): string | undefined {
  if (word.length > 2 * longestWord) return undefined;
  const wanted = bare(word);
  if (wanted.length < 2 || wanted.length > longestWord) return undefined;
  const limit = wanted.length <= 4 ? 1 : wanted.length <= 8 ? 2 : mostChanges;
  let found: string | undefined;
  let best = limit + 1;
  bareOnes(names).forEach((name, index) => {
    const distance = editDistance(wanted, name, Math.min(limit, best));
    if (distance >= best) return;
    best = distance;
    found = names[index];
  });
  return found;
}

/** Different words a closest name is looked for; a text with more of them is none of a user's. */
const mostWords = 200;

/** Closest names of the words of one text. */
export class ClosestNames {
  private readonly known = new Map<string, string | undefined>();

  constructor(private readonly namesFor: (word: string) => readonly string[]) {}

  of(word: string): string | undefined {
    if (!this.known.has(word) && this.known.size < mostWords) {
      this.known.set(word, closestName(word, this.namesFor(word)));
    }
    return this.known.get(word);
  }
}
