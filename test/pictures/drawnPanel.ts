import type { FrameLocator, Locator } from "playwright-core";

/** Characters of a line: as many as the page shows without scrolling; a bar is as long, or as long as the figures leave it. */
const lineLength = 56;
const waitLength = 15;

/** How the parts of a bar look that are long enough to be seen, in their order; what is free is the last one. */
const shades = ["█", "▓", "▒", "▚", "▞"];
const free = "░";

/**
 * What the panel shows, drawn with characters, as a block of Markdown: the page of an installed extension can show neither
 * pictures nor colours of its own. It is read from the panel itself, so that it says what the picture says.
 * @param scene what was estimated on what
 */
export async function drawnPanel(panel: FrameLocator, scene: string): Promise<string> {
  const room = panel.getByRole("region", { name: "Room" });
  const memory = panel.getByRole("region", { name: "Memory" });
  const wait = panel.getByRole("region", { name: "Wait" });
  const context = await bar(room.locator("figure.context > svg"));
  const lines = [
    ...wrapped(oneLine(await panel.getByRole("heading", { level: 1 }).innerText()).split(" · "), " · "),
    "",
    `Room: ${oneLine(await room.locator(".limit-note").innerText())}`,
    context.drawn,
    await legend(room.locator("figure.context .legend"), context.shown),
    "",
  ];
  const shown = new Map<string, string>();
  for (const device of await memory.locator("svg.devices .device").all()) {
    const [name = "", ...amounts] = await device.locator("text").allTextContents();
    lines.push(`Memory, ${name}: ${amounts.join(" ")}`, (await bar(device, shown)).drawn);
  }
  lines.push(await legend(memory.locator(".legend").first(), shown), "");
  const answer = oneLine(await wait.locator(".answer").innerText());
  lines.push(...wrapped(`Wait: ${answer}`.split(/(?<=,) /), " "), " tokens", ...(await waitRows(wait)));
  return ["```text", ...lines, "", scene, "```", ""].join("\n");
}

interface Bar {
  readonly drawn: string;
  /** The character of each kind of part. */
  readonly shown: Map<string, string>;
}

/** A bar as it is drawn in a picture; kinds of parts that had a character before keep it. */
async function bar(svg: Locator, shown = new Map<string, string>()): Promise<Bar> {
  const rects = await svg.locator("rect").evaluateAll((found) =>
    found.map((rect) => ({
      kind: rect.classList.contains("part") ? (rect.classList[1] ?? "") : undefined,
      x: Number(rect.getAttribute("x")),
      width: Number(rect.getAttribute("width")),
    })),
  );
  const start = Math.min(...rects.map(({ x }) => x));
  const whole = Math.max(...rects.map(({ x, width }) => x + width)) - start;
  const cells = Array.from({ length: lineLength }, () => free);
  for (const { kind, x, width } of rects.toSorted((a, b) => a.x - b.x)) {
    const [from, to] = [x, x + width].map((at) => Math.round(((at - start) / whole) * lineLength));
    if (kind === undefined || from === to) continue;
    const shade = shown.get(kind) ?? shades[shown.size] ?? free;
    shown.set(kind, shade);
    cells.fill(shade, from, to);
  }
  return { drawn: cells.join(""), shown };
}

async function legend(list: Locator, shown: ReadonlyMap<string, string>): Promise<string> {
  const items = await list
    .locator("li")
    .evaluateAll((found) =>
      found.map((item) => ({ text: item.textContent, kind: item.querySelector("rect")?.classList[1] ?? "" })),
    );
  const texts = items.map(({ text, kind }) => `${shown.get(kind) ?? ""} ${oneLine(text)}`.trim());
  return wrapped(texts, "  ").join("\n");
}

/** Lines of whole parts. */
function wrapped(parts: readonly string[], separator: string): readonly string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const longer = [...lines.slice(-1), part].join(separator);
    if (lines.length === 0 || longer.length > lineLength) lines.push(part);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** The rows of the card's table: up to the lowest time of the band solid, up to the highest one shaded. */
async function waitRows(wait: Locator): Promise<readonly string[]> {
  await wait.getByRole("button", { name: "Table" }).click();
  const cells = await wait
    .getByRole("table")
    .first()
    .locator("tbody tr")
    .evaluateAll((rows) => rows.map((row) => Array.from(row.children, (cell) => cell.textContent.trim())));
  await wait.getByRole("button", { name: "Picture" }).click();
  const longest = Math.max(...cells.map(([, , , high = ""]) => secondsOf(high)));
  return cells.map(([tokens = "", likely = "", low = "", high = ""]) => {
    const [lowest = 0, highest = 0] = [low, high].map((text) =>
      Math.round((secondsOf(text) / longest) * waitLength),
    );
    const drawn = "█".repeat(lowest) + "▒".repeat(highest - lowest);
    return `${tokens.padStart(7)} ${drawn.padEnd(waitLength)} ≈ ${likely} (${low} – ${high})`.trimEnd();
  });
}

/** "43 s", "1.5 min" or "2.0 h", as the panel writes times. */
function secondsOf(text: string): number {
  const [, number = "", unit = ""] = /^([\d.,]+) (s|min|h)$/.exec(text) ?? [];
  const factor = new Map(Object.entries({ s: 1, min: 60, h: 3600 })).get(unit);
  if (factor === undefined) throw new Error(`not a time: ${text}`);
  return Number(number.replaceAll(",", "")) * factor;
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();
