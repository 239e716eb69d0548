export function median(values: readonly number[]): number {
  const sorted = values.toSorted((p, q) => p - q);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
