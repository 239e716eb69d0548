import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { repository } from "../support/repository";
import { activated } from "./support";

const budgetMs = 50;

describe("activation", () => {
  before(activated);

  it(`loads the extension's code in at most ${budgetMs} ms of processor time`, () => {
    const text = readFileSync(path.join(repository, "dist/extension.js"), "utf8");
    const milliseconds = [1, 2, 3].map((round) => {
      // a text that V8 has not compiled yet, in the extension's folder so that it may import "vscode"
      const copy = path.join(repository, `out/activation-${process.pid}-${round}.cjs`);
      writeFileSync(copy, `${text}\n// ${process.pid} ${round}`);
      const start = process.cpuUsage();
      createRequire(copy)(copy);
      const { user, system } = process.cpuUsage(start);
      rmSync(copy);
      return (user + system) / 1000;
    });
    console.log(`    loaded in ${milliseconds.map((value) => value.toFixed(1)).join(", ")} ms`);
    assert.ok(Math.min(...milliseconds) <= budgetMs, milliseconds.join());
  });
});
