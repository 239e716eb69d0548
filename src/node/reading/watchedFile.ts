import { watch, type FSWatcher } from "node:fs";
import { stat } from "node:fs/promises";
import path from "node:path";

/** Network file systems and links tell nobody of changes: so often it is looked whether there are some. */
const lookMs = 2000;

/**
 * Calls back when a file was written to, replaced, removed or made. Its folder is watched, so that a file that comes back is
 * noticed; the file itself is not opened.
 */
export function watchedFile(file: string, onChange: () => void): { dispose(): void } {
  const name = path.basename(file);
  let watcher: FSWatcher | undefined;
  let seen: string | undefined;
  let ended = false;
  const close = (): void => {
    watcher?.close();
    watcher = undefined;
  };
  try {
    watcher = watch(path.dirname(file), { persistent: false }, (_, changed) => {
      if (changed === null || changed === name) onChange();
    });
    // the folder was removed, or there are too many watchers: the looks go on
    watcher.on("error", close);
  } catch {
    close();
  }
  const seeAs = (now: string): void => {
    if (ended) return;
    const differs = seen !== undefined && now !== seen;
    seen = now;
    if (differs) onChange();
  };
  const look = (): void => {
    stat(file).then(
      ({ ino, size, mtimeMs }) => seeAs(`${ino} ${size} ${mtimeMs}`),
      () => seeAs(""),
    );
  };
  look();
  const timer = setInterval(look, lookMs);
  timer.unref();
  return {
    dispose: () => {
      ended = true;
      clearInterval(timer);
      close();
    },
  };
}
