import { describe, expect, it } from "vitest";
import {
  codicon,
  longestValue,
  shownName,
  shownText,
  together,
  type Language,
  type Shown,
} from "../../../src/core/shown";
import { count, say } from "../../../src/core/text";
import { SeededRandom } from "../../support/seededRandom";

const english: Language = { locale: "en", translate: (template) => template };

/** VS Code's own: src/vs/base/common/linkedText.ts, and renderLabelWithIcons of src/vs/base/browser/ui/iconLabel. */
const link = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;
const iconMark = /(\\)?\$\(([A-Za-z0-9-]+(?:~[A-Za-z]+)?)\)/;

const command = "[click](command:workbench.action.terminal.new)";

describe("a sentence for the screen", () => {
  it("has no link and no icon, whatever is put into it, and reads the same", () => {
    const text = shownText(say`${`${command} $(flame)`} costs ${count(1234)} tokens`, english);
    expect(text).not.toMatch(link);
    expect(text).not.toMatch(iconMark);
    expect(text.replaceAll("\u2060", "")).toBe(`${command} $(flame) costs 1,234 tokens`);
  });

  it("has none that only its parts make together", () => {
    const inner = say`[${"a"}]${"(command:b)"}`;
    for (const text of [say`${"[a]"}${"(command:b)"}`, say`${inner}`, say`${"$"}(flame)`]) {
      expect(shownText(text, english)).not.toMatch(link);
      expect(shownText(text, english)).not.toMatch(iconMark);
    }
  });

  it("has none of random pieces of markup", () => {
    const pieces = [
      "[",
      "]",
      "(",
      ")",
      "$",
      "\\",
      "a",
      " ",
      "command:x",
      "https://x",
      '"t"',
      "~spin",
      "\u2060",
      "\n",
    ];
    const random = new SeededRandom(7);
    for (let tries = 0; tries < 20_000; tries++) {
      const parts = Array.from({ length: 12 }, () => random.pick(pieces));
      const text = shownName(parts.join(""));
      expect(text).not.toMatch(link);
      expect(text).not.toMatch(iconMark);
    }
  });

  it("is one line without controls and without marks that turn it round", () => {
    const text = shownText(
      say`No answer (${"a\r\n2026-01-01 [error] forged \u001b[31m\u202egpj.exe"}).`,
      english,
    );
    expect(text).toBe("No answer (a 2026-01-01 [error] forged ␛[31m\ufffdgpj.exe).");
  });

  it("keeps both ends of what is long, and no half character", () => {
    const name = `start${"🦙".repeat(3000)}end.gguf`;
    const text = shownName(name);
    expect(text.length).toBeLessThanOrEqual(longestValue);
    expect(text).toMatch(/^start🦙+…🦙+end\.gguf$/u);
    expect(shownName("n".repeat(300), 80)).toHaveLength(80);
  });

  it("leaves ordinary names as they are", () => {
    for (const name of ["src/app/[id]/(group)/page.tsx", "日本語 🦙.md", "f(x) = $x [1]", "שלום.txt"]) {
      expect(shownName(name)).toBe(name);
    }
  });

  it("is joined with others and with icons of our own", () => {
    const parts = [codicon("warning"), shownName("[a]"), shownName(""), shownName("(command:b)")];
    expect(together(parts, " ")).toBe("$(warning) [a] (command:b)");
  });

  it("is no string that somebody has at hand", () => {
    // @ts-expect-error the reason why there is such a type
    const text: Shown = command;
    expect(text).toMatch(link);
  });
});
