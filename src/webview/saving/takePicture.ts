import { colourOf } from "./colours";
import { drawingShapes, fillOf, lettersOf, roundedBox, strokeOf, textShape } from "./drawingShapes";
import type { Picture, Shape } from "./picture";
import { append, largest } from "../../core/lists";

const margin = 16;
const lineHeight = 18;
const gap = 10;

/** What stands above a picture, so that it can be read away from the page. */
export interface PictureHead {
  readonly title: string;
  /** What it is about, one fact each. */
  readonly facts: readonly string[];
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
  const cardColour = colourOf(getComputedStyle(card).backgroundColor);
  const shapes: Shape[] = [];
  let y = margin;
  const write = (text: string, style: CSSStyleDeclaration, bold = false): void => {
    for (const line of linesOf(text, width, style)) {
      y += lineHeight;
      shapes.push(textShape(line, margin, y - 5, style, { bold, fill: colourOf(style.color) }));
    }
  };
  write(head.title, page, true);
  const quiet = card.querySelector(".question");
  write(head.facts.join(" · "), quiet === null ? page : getComputedStyle(quiet));
  for (const part of card.querySelectorAll(':scope > p, svg[role="img"], .legend, .with-picture')) {
    y += gap;
    if (part instanceof SVGSVGElement) {
      append(shapes, drawingShapes(part, margin, y));
      y += part.getBoundingClientRect().height;
    } else if (part.classList.contains("legend")) {
      const legend = legendShapes(part, width, y);
      append(shapes, legend.shapes);
      y = legend.end;
    } else write(lettersOf(part), getComputedStyle(part));
  }
  return {
    width: Math.ceil(width + 2 * margin),
    height: Math.ceil(y + margin),
    background: cardColour.opacity === 1 ? cardColour : colourOf(page.backgroundColor),
    fontFamily: page.fontFamily,
    shapes,
  };
}

/** Swatch, name and amount of each item, in rows. */
function legendShapes(
  legend: Element,
  width: number,
  top: number,
): { readonly shapes: readonly Shape[]; readonly end: number } {
  const shapes: Shape[] = [];
  let [x, y] = [0, top];
  for (const item of legend.querySelectorAll("li")) {
    const text = lettersOf(item);
    const style = getComputedStyle(item);
    const itemWidth = 14 + measure(text, style);
    if (x > 0 && x + itemWidth > width) [x, y] = [0, y + lineHeight];
    for (const box of item.querySelectorAll("svg rect")) {
      const fill = fillOf(getComputedStyle(box), box);
      const stroke = strokeOf(getComputedStyle(box), box);
      const path = roundedBox(margin + x, y + 4, 9, 9, 2);
      shapes.push({ kind: "path", path, x: 0, y: 0, ...(fill && { fill }), ...(stroke && { stroke }) });
    }
    shapes.push(textShape(text, margin + x + 14, y + 13, style, { fill: colourOf(style.color) }));
    x += itemWidth + 14;
  }
  return { shapes, end: y + lineHeight };
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
