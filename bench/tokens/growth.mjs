import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { fixed, table } from "../support.mjs";

/** Long runs of one class, and texts that grow: the cost per character stays the same. */
export async function growth({ support, corpus }) {
  for (const name of ["qwen2_5", "gptoss", "gemma3"]) {
    const kernel = support.kernelOf(await support.vocabularyModel(name));
    const timed = (text) => {
      const started = performance.now();
      kernel.count(text);
      return fixed((performance.now() - started) / 1000, 3);
    };
    const runs = ["a", " ", "=", "日"].map((character) => [
      `${JSON.stringify(character)} x 10 000`,
      ...[1e4, 1e5, 1e6].map((length) => timed(character.repeat(length))),
    ]);
    const part = corpus.files
      .slice(0, 20)
      .map((file) => readFileSync(file, "utf8"))
      .join("\n");
    const sources = [
      `${fixed(part.length / 1e6, 2)} MB of sources`,
      ...[1, 10, 100].map((size) => timed(part.repeat(size))),
    ];
    table(`${name}: seconds`, [["input", "1x", "10x", "100x"], ...runs, sources]);
  }
}
