import type { Text } from "../../core/text";
import { showingProgress } from "./screen";
import { localized } from "./vscodeText";
import { inBackground } from "./background";

/** What is done sooner needs no notification. */
const patienceMs = 500;

/** Does what somebody waits for; where that takes a while, a notification says what it is and can cancel it. */
export async function cancellable<T>(title: Text, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const running = run(controller.signal);
  const settled = running.then(
    () => undefined,
    () => undefined,
  );
  const timer = setTimeout(() => {
    inBackground(
      showingProgress(localized(title), (_, cancelled) => {
        cancelled.addEventListener("abort", () => controller.abort());
        return settled;
      }),
    );
  }, patienceMs);
  try {
    return await running;
  } finally {
    clearTimeout(timer);
  }
}
