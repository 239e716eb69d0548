import { chmod, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

/** Puts a shell script in the place of one of llama.cpp's programs. */
export async function writeProgram(folder: string, name: string, script: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const program = path.join(folder, name);
  await writeFile(program, `#!/bin/sh\n${script}\n`);
  await chmod(program, 0o755);
  return program;
}
