import { describe, expect, it } from "vitest";
import { excludeGlobs, expandBraces } from "../../../../src/core/files/excludeGlobs";
import { milliseconds } from "../../../support/growth";

// VS Code's documentation of glob patterns and the cases of its own glob tests.
describe("VS Code globs", () => {
  it.each([
    ["node_modules", "node_modules", true],
    ["node_modules", "a/node_modules", false],
    ["**/node_modules", "node_modules", true],
    ["**/node_modules", "a/b/node_modules", true],
    ["**/node_modules/**", "a/node_modules", true],
    ["**/node_modules/**", "a/node_modules/b/c", true],
    ["**/node_modules/**", "a/my_node_modules", false],
    ["*.js", "a.js", true],
    ["*.js", ".js", true],
    ["*.js", "folder/a.js", false],
    ["**/*.js", "folder/a.js", true],
    ["**/.*", "a/.hidden", true],
    ["{**/*.ts,**/*.js}", "a/b.js", true],
    ["**/*.{html,cs,ts}", "a/b.cs", true],
    ["**/*.{html,cs,ts}", "a/b.md", false],
    ["example.[0-9]", "example.7", true],
    ["example.[!0-9]", "example.7", false],
    ["example.[!0-9]", "example.a", true],
    ["project/**/*.css", "project/a.css", true],
    ["project/**/*.css", "project/a/b/c.css", true],
    ["project/**/*.css", "other/a.css", false],
    ["**", "a/b", true],
    ["out/", "out", true],
    ["./out", "out", true],
    ["a}b", "a}b", true],
    ["?.txt", "a.txt", true],
    // a character to VS Code, as many bytes as it may have
    ["?.txt", "é.txt", true],
    ["??.txt", "é.txt", false],
    ["[!a].txt", "日.txt", true],
    ["!a", "b", false],
  ])("%j and %j: %s", (glob, path, expected) => {
    expect(excludeGlobs([glob], false)(path) !== undefined).toBe(expected);
  });

  it("names the glob that matched", () => {
    expect(excludeGlobs(["*.a", "{b,c}/**"], false)("c/d/e")).toBe("{b,c}/**");
  });

  it("expands nested braces", () => {
    expect(expandBraces("x.{a,b{c,d}}").sort()).toEqual(["x.a", "x.bc", "x.bd"]);
  });

  it("bounds what a hostile setting may cost", () => {
    const spent = milliseconds(() => {
      expect(expandBraces("{a,b}".repeat(40)).length).toBeLessThanOrEqual(1000);
      expect(excludeGlobs([`${"*a".repeat(60)}b`], false)("a".repeat(250))).toBeUndefined();
    });
    expect(spent).toBeLessThan(1000);
  });
});
