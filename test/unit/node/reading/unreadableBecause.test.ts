import { describe, expect, it } from "vitest";
import { unreadableBecause } from "../../../../src/node/reading/readDirectly";

const failed = (code: string): Error => Object.assign(new Error(code), { code });

describe("why a file cannot be read", () => {
  it("names the limit of open files", () => {
    for (const code of ["EMFILE", "ENFILE"])
      expect(unreadableBecause(failed(code))).toMatchObject({
        reason: "unreadable",
        detail: expect.stringContaining("ulimit -n") as unknown,
      });
  });

  it("tells what has gone from what is forbidden, and throws bugs again", () => {
    expect(unreadableBecause(failed("ENOENT")).reason).toBe("vanished");
    expect(unreadableBecause(failed("EACCES"))).toEqual({ reason: "unreadable", detail: "EACCES" });
    expect(() => unreadableBecause(new TypeError("a bug"))).toThrow(TypeError);
  });
});
