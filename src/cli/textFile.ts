import { readFile } from "node:fs/promises";
import { say } from "../core/text";
import { UserError } from "../core/userError";

/** The text of a file the user named. */
export async function textOf(file: string): Promise<string> {
  return (await bytesOf(file)).toString("utf8");
}

/** The bytes of a file the user named. */
export async function bytesOf(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw new UserError("notFound", say`${file} cannot be read.`, say`Specify an existing file.`, { cause });
  }
}
