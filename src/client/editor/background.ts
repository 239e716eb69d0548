import { isAbort } from "./cancellation";

/**
 * Lets go on what nobody waits for. A failure that nobody hears is a crash of the extension host to VS Code; that somebody
 * cancels, or that the window closes, is no failure.
 */
export function inBackground(work: PromiseLike<unknown>): void {
  work.then(undefined, (error: unknown) => {
    // a bug, then: it stands in the extension host's log
    // eslint-disable-next-line no-console
    if (!isAbort(error)) console.error(error);
  });
}
