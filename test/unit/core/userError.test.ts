import { describe, expect, it } from "vitest";
import { say } from "../../../src/core/text";
import { UserError } from "../../../src/core/userError";

describe("UserError", () => {
  it("is recognised where it comes from another bundle, which has a class of its own", () => {
    const Other = class extends Error {
      override readonly name = "UserError";
      readonly remedy = say`Start it.`;
    };
    expect(new Other("x") instanceof UserError).toBe(true);
    expect(new UserError("refused", say`No answer.`, say`Start it.`) instanceof UserError).toBe(true);
  });

  it.each([
    new Error("x"),
    new TypeError("x"),
    { name: "UserError", remedy: say`x` },
    undefined,
    "UserError",
  ])("is not %s", (value) => {
    expect((value as unknown) instanceof UserError).toBe(false);
  });

  it("says problem and remedy as its message", () => {
    expect(new UserError("refused", say`No answer.`, say`Start it.`).message).toBe("No answer. Start it.");
  });
});
