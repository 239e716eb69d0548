import { describe, expect, it } from "vitest";
import { matchIgnoreFile, parseIgnoreFile } from "../../../../src/core/files/ignoreRules";
import { milliseconds } from "../../../support/growth";
import { slowness } from "../../../support/slowness";

function ignored(text: string, path: string, ignoreCase = false): boolean | undefined {
  const folder = path.endsWith("/");
  const file = parseIgnoreFile(text, ".gitignore", ignoreCase);
  return matchIgnoreFile(file, folder ? path.slice(0, -1) : path, folder)?.ignored;
}

// Expected values are git's own (`git check-ignore --no-index`, 2.39); a larger comparison runs against the real git.
describe("rules of an ignore file", () => {
  it.each([
    ["*.log", "a/b/x.log", true],
    ["/*.log", "a/x.log", undefined],
    ["a/*.log", "a/x.log", true],
    ["a/*.log", "a/b/x.log", undefined],
    ["a/**/x", "a/x", true],
    ["**/x/y", "x/y", true],
    ["foo**/bar", "foo/a/bar", true],
    ["build/", "build/", true],
    ["build/", "build", undefined],
    ["*\n!keep", "keep", false],
    ["!keep\n*", "keep", true],
    ["\\#a", "#a", true],
    ["#a", "#a", undefined],
    ["\\!a", "!a", true],
    ["a ", "a", true],
    ["a\\ ", "a ", true],
    ["a\r\nb\r\n", "b", true],
    ["\uFEFFa", "a", true],
    ["[[:digit:]].txt", "7.txt", true],
    ["[[:nope:]]", "n", undefined],
    ["[a", "[a", undefined],
    ["?.txt", "é.txt", undefined],
    ["??.txt", "é.txt", true],
    ["A", "a", undefined],
    ["a\\", "a", undefined],
    ["/", "a", undefined],
    ["", "a", undefined],
  ])("%j says of %j: %s", (text, path, expected) => {
    expect(ignored(text, path)).toBe(expected);
  });

  it("tells no capitals from small letters where the file system does not", () => {
    expect(ignored("/Build/[a-c].TXT", "build/B.txt", true)).toBe(true);
    expect(ignored("READ*", "readme.md", true)).toBe(true);
  });

  it("names the rule that decided", () => {
    const file = parseIgnoreFile("# logs\n*.log\n!keep.log\n", "src/.gitignore", false);
    expect(matchIgnoreFile(file, "keep.log", false)).toEqual({
      ignored: false,
      rule: "src/.gitignore:3: !keep.log",
    });
  });

  it("gives up on a pattern made to never end", () => {
    const name = `${"a".repeat(200)}c`;
    const spent = milliseconds(() => {
      expect(ignored(`${"*a".repeat(40)}b`, name)).toBeUndefined();
      expect(ignored(`x${"**/a".repeat(20)}/**/b`, `x/${"a/".repeat(120)}c`)).toBeUndefined();
    });
    expect(spent).toBeLessThan(1000);
  });

  it("gives up on many patterns made to never end, and on one with many stars", () => {
    const name = `${"a".repeat(200)}c`;
    const many = parseIgnoreFile(`${"*a".repeat(40)}b\n`.repeat(2000), ".gitignore", false);
    expect(milliseconds(() => void matchIgnoreFile(many, name, false))).toBeLessThan(100 * slowness());
    expect(ignored(`${"**/".repeat(30_000)}b`, "a/".repeat(200) + "c")).toBeUndefined();
  });
});
