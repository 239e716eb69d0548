/** What a table says of a name that somebody else chose: "constructor" and the like are in every object, and in no table. */
export function ownValue<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
