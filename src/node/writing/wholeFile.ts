import { readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";

/** Nothing takes that long to write: whoever wrote an older draft was killed. */
const longestDraftMs = 3_600_000;

/** Puts a text in the place of a file: all of it or, where that fails, nothing. @throws the system's errors */
export async function writeWhole(file: string, text: string, signal?: AbortSignal): Promise<void> {
  const draft = await draftBeside(file);
  try {
    await writeFile(draft, text, { flag: "wx", ...(signal && { signal }) });
    await rename(draft, file);
  } catch (cause) {
    await rm(draft, { force: true });
    throw cause;
  }
}

/**
 * Names a draft beside a file, to be written and put in its place. Drafts of it that are left of processes which were killed
 * are removed.
 */
export async function draftBeside(file: string): Promise<string> {
  await removeOldDrafts(file);
  return `${file}.${process.pid}.${Math.random().toString(36).slice(2, 10)}.tmp`;
}

async function removeOldDrafts(file: string): Promise<void> {
  const [folder, start] = [path.dirname(file), `${path.basename(file)}.`];
  // a folder that cannot be listed may still be written to
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(start) || !/^\d+\.[a-z\d]+\.tmp$/.test(name.slice(start.length))) continue;
    const draft = path.join(folder, name);
    const { mtimeMs = Infinity } = (await stat(draft).catch(() => undefined)) ?? {};
    if (mtimeMs < Date.now() - longestDraftMs) await rm(draft, { force: true }).catch(() => undefined);
  }
}
