import { existsSync } from "node:fs";
import path from "node:path";

/** The checkout's root folder, from a test's source as well as from its bundle under `out/`. */
export const repository = findUp(import.meta.dirname);

function findUp(folder: string): string {
  if (existsSync(path.join(folder, "package-lock.json")) && existsSync(path.join(folder, "src")))
    return folder;
  const parent = path.dirname(folder);
  if (parent === folder) throw new Error("this test runs outside of the project's checkout");
  return findUp(parent);
}
