/** The methods of `T` that answer later, whatever they do until then. */
export type Deferred<T> = {
  readonly [K in keyof T as T[K] extends (...args: never[]) => Promise<unknown> ? K : never]: T[K];
};

/** Stands for what `load` brings; it is loaded when the first of its methods is called, and again only where that failed. */
export function deferred<T extends object>(load: () => Promise<T>): Deferred<T> {
  let loaded: Promise<T> | undefined;
  const loadOnce = (): Promise<T> =>
    (loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    }));
  const get = (_: unknown, name: string | symbol): unknown => {
    // whoever awaits it asks for `then`
    if (typeof name === "symbol" || name === "then") return undefined;
    return async (...args: readonly unknown[]): Promise<unknown> => {
      const target = await loadOnce();
      const method = Reflect.get(target, name) as (...given: readonly unknown[]) => unknown;
      return Reflect.apply(method, target, args);
    };
  };
  return new Proxy<object>({}, { get }) as Deferred<T>;
}
