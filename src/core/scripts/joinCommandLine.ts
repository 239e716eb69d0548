import type { Shell } from "./splitCommandLine";

/** A command line a shell splits into exactly these words. */
export function joinCommandLine(words: readonly string[], shell: Shell): string {
  return words.map((word) => quoted(word, shell)).join(" ");
}

function quoted(word: string, shell: Shell): string {
  if (/^[\w./:=,@%+•-]+$/.test(word)) return word;
  if (shell === "posix" || shell === "words") return `'${word.replaceAll("'", "'\\''")}'`;
  if (shell === "powershell") return `'${word.replaceAll("'", "''")}'`;
  return `"${word.replaceAll('"', '""')}"`;
}
