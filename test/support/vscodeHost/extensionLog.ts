import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

/** The end of every log of the extension's output channel in a profile. */
export async function extensionLog(userDataDir: string, lines = 40): Promise<string> {
  const logs = path.join(userDataDir, "logs");
  const names = await readdir(logs, { recursive: true }).catch(() => []);
  const own = names.filter((name) => path.basename(name) === "Llama Gauge.log").sort();
  const texts = await Promise.all(own.map((name) => readFile(path.join(logs, name), "utf8")));
  return texts.join("").trimEnd().split("\n").slice(-lines).join("\n");
}
