import { describe, expect, it } from "vitest";
import type { CountedFile } from "../../../../src/core/tokens/tokenCount";
import { tokenTree, type TokenNode } from "../../../../src/core/tokens/tokenTree";

const file = (label: string, tokens: number): CountedFile => ({
  file: { path: `/w/${label}`, label, bytes: tokens, mtimeMs: 0 },
  tokens,
});

function lines(node: TokenNode, depth = 0): string[] {
  return node.children.flatMap((child) => [
    `${"  ".repeat(depth)}${child.name} ${child.tokens} (${child.files})`,
    ...lines(child, depth + 1),
  ]);
}

describe("tokenTree", () => {
  it("adds up folders, largest first, and joins folders that hold nothing else", () => {
    const top = tokenTree([
      file("README.md", 5),
      file("src/core/a.ts", 10),
      file("src/core/b.ts", 30),
      file("test/x.ts", 100),
      file("deep/er/est/y.ts", 2),
    ]);
    expect([top.tokens, top.files]).toEqual([147, 5]);
    expect(lines(top)).toEqual([
      "test 100 (1)",
      "  x.ts 100 (1)",
      "src/core 40 (2)",
      "  b.ts 30 (1)",
      "  a.ts 10 (1)",
      "README.md 5 (1)",
      "deep/er/est 2 (1)",
      "  y.ts 2 (1)",
    ]);
  });

  it("keeps a file and a folder of the same name apart", () => {
    expect(lines(tokenTree([file("a", 1), file("a/b", 2)]))).toEqual(["a 2 (1)", "  b 2 (1)", "a 1 (1)"]);
  });

  it("is not confused by names of JavaScript's own", () => {
    expect(lines(tokenTree([file("__proto__/constructor", 1)]))).toEqual([
      "__proto__ 1 (1)",
      "  constructor 1 (1)",
    ]);
  });

  it("is empty without files", () => {
    expect(tokenTree([])).toMatchObject({ tokens: 0, files: 0, children: [] });
  });
});
