import { describe, expect, it } from "vitest";
import { conversationOfLog } from "../support/sampleConversation";
import { sampleStateNames, sampleStates } from "../support/sampleStates";
import { violations } from "./support/axe";
import { panelPages } from "./support/panelPage";
import type { Theme } from "./support/workbench";

const themes: readonly Theme[] = ["light", "dark", "highContrast", "highContrastLight"];

const controlled = "vscode-button, button, input, select, summary";

const open = panelPages();

/** Letters in pictures, which axe-core does not look at: those with less than 4.5 to 1 against what is under them. */
function faintLetters(): readonly string[] {
  const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  if (context === null) return ["no canvas"];
  const pixelOf = (colours: readonly string[]): readonly number[] => {
    context.clearRect(0, 0, 1, 1);
    for (const colour of colours) {
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
    }
    return Array.from(context.getImageData(0, 0, 1, 1).data.slice(0, 3));
  };
  // relative luminance and contrast as WCAG defines them
  const luminance = (pixel: readonly number[]): number => {
    const [red = 0, green = 0, blue = 0] = pixel.map((part) => {
      const value = part / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  return Array.from(document.querySelectorAll("main svg text")).flatMap((text) => {
    text.scrollIntoView({ block: "center" });
    const { left, top, width, height } = text.getBoundingClientRect();
    if (width === 0) return [];
    const under = document
      .elementsFromPoint(left + width / 2, top + height / 2)
      .filter((element) => !(element instanceof SVGTextElement))
      .map((element) => {
        const { fill, backgroundColor } = getComputedStyle(element);
        if (!(element instanceof SVGGeometryElement)) return backgroundColor;
        return fill === "none" || fill.startsWith("url") ? "transparent" : fill;
      })
      .toReversed();
    const { fill, textDecorationLine } = getComputedStyle(text);
    // what is struck through is inactive
    if (textDecorationLine === "line-through") return [];
    const [light = 0, dark = 0] = [luminance(pixelOf([...under, fill])), luminance(pixelOf(under))].toSorted(
      (a, b) => b - a,
    );
    const contrast = (light + 0.05) / (dark + 0.05);
    return contrast >= 4.5 ? [] : [`${text.textContent}: ${contrast.toFixed(2)}`];
  });
}

describe("the panel's page by WCAG 2.2 AA", () => {
  it.each(sampleStateNames)("has nothing against it in the state %s, in any theme", async (name) => {
    const panel = await open({ trusted: name !== "failed" });
    const { page } = panel;
    await panel.show(sampleStates[name]());
    if (name === "fits" || name === "idle") {
      const shown = conversationOfLog("two-agents-no-cache-ram");
      await panel.send({ type: "conversation", conversation: { shown } });
    }
    for (const view of ["pictures", "tables"]) {
      if (view === "tables") {
        for (const button of await page.getByRole("button", { name: "Table" }).all()) await button.click();
        await panel.drawn();
        await page.locator("details").evaluateAll((all) => {
          for (const details of all) details.setAttribute("open", "");
        });
      }
      for (const [i, theme] of themes.entries()) {
        await panel.setTheme(theme);
        // a theme changes nothing but colours
        const rules = i > 0 ? ["color-contrast"] : undefined;
        const found = [...(await violations(page, ":root", rules)), ...(await page.evaluate(faintLetters))];
        expect([theme, view, ...found]).toEqual([theme, view]);
      }
    }
  });
});

describe("the panel's page by keyboard", () => {
  /** What has the focus, as a reader is told it, and whether one can see that it has. */
  const focused = (): { readonly name: string; readonly top: number; readonly seen: boolean } | undefined => {
    let element = document.activeElement;
    if (element === null || element === document.body) return undefined;
    const name =
      element.getAttribute("aria-label") ?? element.closest("label")?.textContent ?? element.textContent;
    const { top, bottom } = element.getBoundingClientRect();
    // the button of a component is inside of it
    element = element.shadowRoot?.activeElement ?? element;
    const ring = getComputedStyle(element);
    const outlined = ring.outlineStyle !== "none" && Number.parseFloat(ring.outlineWidth) > 0;
    return {
      name: name.replaceAll(/\s+/g, " ").trim(),
      top: top + scrollY,
      seen: outlined && bottom > 0 && top < innerHeight,
    };
  };

  it.each(["idle", "fits", "partly", "failedWithReport"] as const)(
    "comes to everything in the state %s from top to bottom, sees where it is, and gets out again",
    async (name) => {
      const panel = await open();
      const { page } = panel;
      await panel.show(sampleStates[name]());
      const controls = await page.locator("main").locator(controlled).filter({ visible: true }).count();
      const stops: NonNullable<ReturnType<typeof focused>>[] = [];
      for (let presses = 0; presses < 200; presses++) {
        await page.keyboard.press("Tab");
        const stop = await page.evaluate(focused);
        if (stop === undefined) break;
        stops.push(stop);
      }
      expect(stops.filter(({ name, seen }) => name === "" || !seen)).toEqual([]);
      // nothing is left out, nothing is a trap
      expect(stops.length).toBeGreaterThanOrEqual(controls);
      expect(stops.length).toBeLessThan(200);
      // things of one line may differ by a few pixels
      const steps = stops.map(({ top }, i) => top - (stops[i - 1]?.top ?? 0));
      expect(steps.filter((step) => step < -60)).toEqual([]);
    },
  );

  it("switches, chooses, opens and saves without a mouse", async () => {
    const panel = await open();
    const { page } = panel;
    await panel.show(sampleStates.partly());
    const room = page.getByRole("region", { name: "Room" });
    const press = async (role: "button" | "checkbox", label: string | RegExp, key: string): Promise<void> => {
      await room.getByRole(role, { name: label }).first().focus();
      await page.keyboard.press(key);
    };
    await press("button", "Table", "Enter");
    await press("checkbox", "Include README.md in the prompt", "Space");
    await press("button", "src/server/slots.cpp", "Enter");
    await press("button", "Save “Files by tokens” as CSV or Markdown", "Space");
    await room.getByText("Not counted: 3").focus();
    await page.keyboard.press("Enter");
    await room.getByRole("table", { name: "What was excluded" }).waitFor();
    await press("button", "Include all", "Enter");
    const sent = (await panel.sent()).filter(({ type }) => type !== "ready");
    expect(sent.map((message) => ("files" in message ? { type: message.type } : message))).toEqual([
      { type: "leaveOut", paths: ["/home/ada/harbour/README.md"], out: true },
      { type: "openFile", path: "/home/ada/harbour/src/server/slots.cpp" },
      { type: "save" },
      { type: "command", command: "includeAll" },
    ]);
  });
});

describe("the panel's page enlarged", () => {
  it.each(["idle", "partly", "tight", "failedWithReport"] as const)(
    "keeps everything of the state %s in sight at 200 % zoom",
    async (name) => {
      // a window of 1280 pixels at 200 % has 640
      const size = { width: 640, height: 450 };
      const panel = await open({ theme: "light", language: "ja", size });
      await panel.show(sampleStates[name]());
      const beyond = await panel.page.evaluate(() =>
        Array.from(document.querySelectorAll("main *"))
          .filter((element) => element.closest("svg, .unseen, .scroll") === null)
          .filter((element) => element.getBoundingClientRect().right > innerWidth + 0.5)
          .map((element) => element.outerHTML.slice(0, 120)),
      );
      expect(beyond).toEqual([]);
    },
  );
});
