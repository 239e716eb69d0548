import { largest } from "../../core/lists";
import { colourOf } from "./colours";
import { element, ownDrawing, textElement } from "./ownDrawing";

const margin = 16;
const lineHeight = 18;
const gap = 10;

/** What stands above a picture, so that it can be read away from the page. */
export interface PictureHead {
  readonly title: string;
  /** What it is about, one fact each. */
  readonly facts: readonly string[];
}

/** A drawing that depends on no style sheet, theme or page. */
export interface Picture {
  /** In the page's pixels. */
  readonly width: number;
  readonly height: number;
  readonly svg: string;
}

/**
 * The pictures of a card as they are on the page now, one below the other, with their legends, the card's own paragraphs
 * and what is marked `with-picture`. Undefined where the card shows none.
 */
export function takePicture(card: Element, head: PictureHead): Picture | undefined {
  const drawings = card.querySelectorAll('svg[role="img"]');
  if (drawings.length === 0) return undefined;
  const width = largest(
    Array.from(drawings, (svg) => svg.getBoundingClientRect().width),
    240,
  );
  const page = getComputedStyle(document.body);
  const parts: SVGElement[] = [];
  const patterns = new Map<string, SVGElement>();
  let y = margin;
  const write = (text: string, style: CSSStyleDeclaration, weight = style.fontWeight): void => {
    for (const line of linesOf(text, width, style)) {
      y += lineHeight;
      const written = textElement(line, margin, y - 5, style);
      written.setAttribute("font-weight", weight);
      parts.push(written);
    }
  };
  write(head.title, page, "600");
  const quiet = card.querySelector(".question");
  write(head.facts.join(" · "), quiet === null ? page : getComputedStyle(quiet));
  for (const part of card.querySelectorAll(':scope > p, svg[role="img"], .legend, .with-picture')) {
    y += gap;
    if (part instanceof SVGSVGElement) {
      parts.push(moved(ownDrawing(part, patterns), margin, y));
      y += part.getBoundingClientRect().height;
    } else if (part.classList.contains("legend")) {
      const legend = legendParts(part, width, patterns);
      parts.push(moved(legend.drawn, margin, y));
      y += legend.height;
    } else write(lettersOf(part), getComputedStyle(part));
  }
  const cardColour = colourOf(getComputedStyle(card).backgroundColor);
  const background = cardColour.opacity === 1 ? cardColour : colourOf(page.backgroundColor);
  const size = { width: Math.ceil(width + 2 * margin), height: Math.ceil(y + margin) };
  const box = { viewBox: `0 0 ${size.width} ${size.height}`, "font-family": page.fontFamily };
  const root = element("svg", { ...size, ...box });
  root.append(...patterns.values(), element("rect", { ...size, fill: background.hex }), ...parts);
  return { ...size, svg: `${new XMLSerializer().serializeToString(root)}\n` };
}

function moved(drawn: SVGElement | undefined, x: number, y: number): SVGElement {
  const group = element("g", { transform: `translate(${x} ${y})` });
  if (drawn !== undefined) group.append(drawn);
  return group;
}

/** Swatch, name and amount of each item, in rows. */
function legendParts(
  legend: Element,
  width: number,
  patterns: Map<string, SVGElement>,
): { readonly drawn: SVGElement; readonly height: number } {
  const drawn = element("g", {});
  let [x, y] = [0, 0];
  for (const item of legend.querySelectorAll("li")) {
    const text = lettersOf(item);
    const style = getComputedStyle(item);
    const itemWidth = 14 + measure(text, style);
    if (x > 0 && x + itemWidth > width) [x, y] = [0, y + lineHeight];
    const swatch = item.querySelector("svg");
    if (swatch !== null) drawn.append(moved(ownDrawing(swatch, patterns), x, y + 4));
    drawn.append(textElement(text, x + 14, y + 13, style));
    x += itemWidth + 14;
  }
  return { drawn, height: y + lineHeight };
}

/** What one reads in an element: without explanations that only show on pointing, spaces as one. */
function lettersOf(part: Element): string {
  const copy = part.cloneNode(true) as Element;
  for (const hidden of copy.querySelectorAll("title, .unseen")) hidden.remove();
  return copy.textContent.replaceAll(/\s+/g, " ").trim();
}

let ruler: OffscreenCanvasRenderingContext2D | null = null;

function measure(text: string, style: CSSStyleDeclaration): number {
  ruler ??= new OffscreenCanvas(1, 1).getContext("2d");
  if (ruler === null) return text.length * 8;
  ruler.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  return ruler.measureText(text).width;
}

/** A text in lines of at most this width; words stay whole, languages without spaces break anywhere. */
function linesOf(text: string, width: number, style: CSSStyleDeclaration): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const piece of text.match(/[\u2e80-\u9fff\uff00-\uffef]|[^\s\u2e80-\u9fff\uff00-\uffef]+\s*|\s+/g) ??
    []) {
    if (line !== "" && measure(line + piece.trimEnd(), style) > width) {
      lines.push(line.trimEnd());
      line = "";
    }
    line += piece;
  }
  return line.trim() === "" ? lines : [...lines, line.trimEnd()];
}
