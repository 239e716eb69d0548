// Cuts the files of a test stage into shares that run beside each other, and knows what each file took last time.
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { cacheFolder } from "./cache.mjs";

/** Every file ending like this in a folder, as paths from the root of the checkout. */
export function testFiles(root, folder, end = ".test.ts") {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(end))
    .map((name) => path.join(folder, name).replaceAll(path.sep, "/"))
    .sort();
}

/**
 * Shares that take about as long: the longest file first, each to the share with the least so far. A file that nobody has
 * timed counts like the mean of the others.
 * @param {readonly string[]} files
 * @param {number} count
 * @param {Readonly<Record<string, number>>} times seconds by file
 * @returns {string[][]} as many as asked for, none of them empty
 */
export function shares(files, count, times) {
  const timed = files.filter((file) => file in times);
  const mean = timed.reduce((sum, file) => sum + times[file], 0) / timed.length || 1;
  const seconds = (file) => times[file] ?? mean;
  const all = Array.from({ length: Math.min(count, files.length) }, () => ({ files: [], seconds: 0 }));
  for (const file of files.toSorted((a, b) => seconds(b) - seconds(a))) {
    const least = all.reduce((a, b) => (b.seconds < a.seconds ? b : a));
    least.files.push(file);
    least.seconds += seconds(file);
  }
  return all.map((share) => share.files);
}

const record = () => path.join(cacheFolder(), "test-times.json");

/** Seconds by file, as far as they are known on this machine. */
export function knownTimes() {
  try {
    return JSON.parse(readFileSync(record(), "utf8"));
  } catch {
    return {};
  }
}

/** Remembers what files took this time, besides what is known of others. */
export function rememberTimes(times) {
  const file = record();
  const partial = `${file}.${process.pid}.partial`;
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(partial, JSON.stringify({ ...knownTimes(), ...times }, undefined, 2));
  renameSync(partial, file);
}
