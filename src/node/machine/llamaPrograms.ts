import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import path from "node:path";

export type LlamaProgramName = "llama-server" | "llama-bench" | "llama-fit-params";

/**
 * Path of one of the user's llama.cpp programs: in the given folder, else in one of PATH. Nothing is started. undefined:
 * it is not there.
 */
export async function findLlamaProgram(name: LlamaProgramName, folder?: string): Promise<string | undefined> {
  const folders =
    folder === undefined || folder === "" ? (process.env["PATH"] ?? "").split(path.delimiter) : [folder];
  const file = process.platform === "win32" ? `${name}.exe` : name;
  for (const candidate of folders.filter((entry) => path.isAbsolute(entry))) {
    const full = path.join(candidate, file);
    if (await isExecutable(full)) return full;
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
