/** What spreading a list into arguments does for short ones: a long list ends that in a RangeError. */
export function largest(values: Iterable<number>, atLeast = -Infinity): number {
  let found = atLeast;
  for (const value of values) found = Math.max(found, value);
  return found;
}

export function smallest(values: Iterable<number>, atMost = Infinity): number {
  let found = atMost;
  for (const value of values) found = Math.min(found, value);
  return found;
}

export function append<T>(list: T[], more: Iterable<T>): void {
  for (const item of more) list.push(item);
}
