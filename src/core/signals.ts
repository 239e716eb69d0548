type Callback = () => void;

/** One listener per signal, however many wait for it: Node.js warns from the eleventh on. */
const waiting = new WeakMap<AbortSignal, Set<Callback>>();

/** Calls back once, when the signal is aborted; what is returned takes it back. */
export function onAbort(signal: AbortSignal, callback: Callback): Callback {
  let callbacks = waiting.get(signal);
  if (callbacks === undefined) {
    const all = (callbacks = new Set<Callback>());
    waiting.set(signal, all);
    signal.addEventListener("abort", () => all.forEach((call) => call()), { once: true });
  }
  callbacks.add(callback);
  return () => callbacks.delete(callback);
}

/**
 * `work` under a signal that is aborted with the first of `signals`. It ends with that one's reason, also where it does
 * not listen. Not AbortSignal.any: what it makes holds its sources only weakly, so that on Node.js 20 a time limit that was
 * collected never comes (nodejs/node#57736), and on 24 an abort can be lost (nodejs/node#65995).
 */
export function withAny<T>(
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const any = new AbortController();
  return new Promise<T>((resolve, reject) => {
    const aborted = signals.find((signal) => signal.aborted);
    if (aborted !== undefined) {
      reject(abortReason(aborted));
      return;
    }
    const leave = signals.map((signal) =>
      onAbort(signal, () => {
        any.abort(signal.reason);
        reject(abortReason(signal));
      }),
    );
    const settle = (): void => leave.forEach((call) => call());
    // begun within a promise: what it throws at once is a rejection like any other
    Promise.resolve(any.signal).then(work).finally(settle).then(resolve, reject);
  });
}

/** Why a signal was aborted, as an error. */
export function abortReason({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : Object.assign(new Error("Cancelled"), { name: "AbortError" });
}
