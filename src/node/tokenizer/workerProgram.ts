import { existsSync } from "node:fs";
import path from "node:path";

/** The bundled worker program beside this one; undefined where this program runs unbundled. */
export function workerProgram(): string | undefined {
  const file = path.join(__dirname, "worker.js");
  return existsSync(file) ? file : undefined;
}
