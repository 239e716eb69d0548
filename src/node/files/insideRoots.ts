import { realpath } from "node:fs/promises";
import path from "node:path";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { within } from "../waiting/within";

const limitMs = 5000;
const longestPath = 4096;

/**
 * Absolute paths of what somebody names who may see these folders only; links are followed before it is decided.
 * @throws UserError for the first that is outside, or is not there
 */
export async function insideRoots(
  names: readonly string[],
  roots: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const real = await Promise.all(roots.map((root) => realPath(root, signal)));
  const allowed = real.filter((root) => root !== undefined);
  const found: string[] = [];
  for (const name of names) found.push(await insideOne(name, roots, allowed, signal));
  return [...new Set(found)];
}

async function insideOne(
  name: string,
  roots: readonly string[],
  allowed: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  if (name.length > longestPath || name.includes("\0")) throw outside(name, roots);
  const candidates = path.isAbsolute(name) ? [name] : roots.map((root) => path.join(root, name));
  for (const candidate of candidates) {
    // nothing outside is even looked at: whether it exists is nobody's business
    if (!roots.some((root) => isBelow(candidate, root)) && !allowed.some((root) => isBelow(candidate, root)))
      throw outside(name, roots);
    const real = await realPath(candidate, signal);
    if (real === undefined) continue;
    if (!allowed.some((root) => isBelow(real, root))) throw outside(name, roots);
    return candidate;
  }
  throw new UserError(
    "notFound",
    say`${name} does not exist.`,
    say`Name a file or folder relative to the workspace; "." is all of it.`,
  );
}

async function realPath(file: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await within(realpath(file), limitMs, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  }
}

function isBelow(file: string, root: string): boolean {
  const way = path.relative(root, file);
  return way === "" || (way !== ".." && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way));
}

function outside(name: string, roots: readonly string[]): UserError {
  return new UserError(
    "invalidInput",
    say`${name} is outside the folders that may be read.`,
    roots.length === 0 ? say`Open a folder first.` : say`Name files and folders inside ${roots.join(", ")}.`,
  );
}
