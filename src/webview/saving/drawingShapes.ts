import { colourOf } from "./colours";
import type { Colour, Hatching, Shape, Stroke } from "./picture";

/** The shapes of a drawing of the page, with the colours that its style sheet gives them. */
export function drawingShapes(svg: SVGSVGElement, left: number, top: number): readonly Shape[] {
  return Array.from(svg.querySelectorAll("rect, path, circle, line, text"), (element) =>
    shapeOf(element as SVGGraphicsElement, left, top),
  ).flatMap((shape) => shape ?? []);
}

function shapeOf(element: SVGGraphicsElement, left: number, top: number): Shape | undefined {
  const style = getComputedStyle(element);
  if (element.closest("pattern, defs") !== null || style.display === "none") return undefined;
  const moved = element.getCTM();
  const [x, y] = [left + (moved?.e ?? 0), top + (moved?.f ?? 0)];
  const fill = fillOf(style, element);
  const stroke = strokeOf(style, element);
  if (element instanceof SVGTextElement) {
    const at = (value: SVGAnimatedLengthList): number =>
      value.baseVal.numberOfItems === 0 ? 0 : value.baseVal.getItem(0).value;
    if (fill === undefined || "hatching" in fill) return undefined;
    return textShape(lettersOf(element), x + at(element.x), y + at(element.y), style, {
      fill,
      ...(stroke !== undefined && { halo: stroke }),
    });
  }
  const path = outline(element);
  if (path === undefined || (fill ?? stroke) === undefined) return undefined;
  return { kind: "path", path, x, y, ...(fill && { fill }), ...(stroke && { stroke }) };
}

function outline(element: SVGGraphicsElement): string | undefined {
  if (element instanceof SVGPathElement) return element.getAttribute("d") ?? undefined;
  if (element instanceof SVGCircleElement) {
    const [x, y, r] = [element.cx, element.cy, element.r].map((length) => length.baseVal.value);
    if (x === undefined || y === undefined || r === undefined) return undefined;
    return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
  }
  if (element instanceof SVGLineElement) {
    const [x1, y1, x2, y2] = [element.x1, element.y1, element.x2, element.y2].map((l) => l.baseVal.value);
    return `M${x1 ?? 0} ${y1 ?? 0}L${x2 ?? 0} ${y2 ?? 0}`;
  }
  if (!(element instanceof SVGRectElement)) return undefined;
  const [x = 0, y = 0, width = 0, height = 0, rx = 0] = [
    element.x,
    element.y,
    element.width,
    element.height,
    element.rx,
  ].map((length) => length.baseVal.value);
  return width > 0 && height > 0 ? roundedBox(x, y, width, height, rx) : undefined;
}

export function roundedBox(x: number, y: number, width: number, height: number, radius: number): string {
  const at = (value: number): string => String(Math.round(value * 100) / 100);
  const r = Math.min(radius, width / 2, height / 2);
  if (r === 0) return `M${at(x)} ${at(y)}h${at(width)}v${at(height)}h${at(-width)}z`;
  const corner = (dx: number, dy: number): string => `a${at(r)} ${at(r)} 0 0 1 ${at(dx)} ${at(dy)}`;
  const [across, down] = [width - 2 * r, height - 2 * r];
  return `M${at(x + r)} ${at(y)}h${at(across)}${corner(r, r)}v${at(down)}${corner(-r, r)}h${at(-across)}${corner(-r, -r)}v${at(-down)}${corner(r, -r)}z`;
}

export function fillOf(style: CSSStyleDeclaration, element: Element): Colour | Hatching | undefined {
  if (style.fill === "none") return undefined;
  const pattern = /^url\("?#([^")]+)"?\)/.exec(style.fill)?.[1];
  if (pattern === undefined) return visible(style.fill, style.fillOpacity, element);
  const line = document.querySelector(`#${CSS.escape(pattern)} .line`);
  const hatching = line === null ? undefined : visible(getComputedStyle(line).fill, "1", element);
  return hatching && { hatching };
}

export function strokeOf(style: CSSStyleDeclaration, element: Element): Stroke | undefined {
  const width = Number.parseFloat(style.strokeWidth);
  if (style.stroke === "none" || !(width > 0)) return undefined;
  const colour = visible(style.stroke, style.strokeOpacity, element);
  const dashes = style.strokeDasharray === "none" ? [] : style.strokeDasharray.split(/[\s,]+/);
  return colour && { colour, width, dashes: dashes.map(Number.parseFloat) };
}

/** A colour with its own opacity and that of everything it is in; undefined where nothing of it can be seen. */
function visible(css: string, ownOpacity: string, element: Element): Colour | undefined {
  const { hex, opacity } = colourOf(css);
  let all = opacity * Number(ownOpacity);
  for (let around: Element | null = element; around !== null; around = around.parentElement) {
    all *= Number(getComputedStyle(around).opacity);
    if (around instanceof SVGSVGElement) break;
  }
  return all > 0 ? { hex, opacity: all } : undefined;
}

type TextShape = Shape & { readonly kind: "text" };

export function textShape(
  text: string,
  x: number,
  y: number,
  style: CSSStyleDeclaration,
  rest: Pick<TextShape, "fill" | "halo"> & { readonly bold?: boolean },
): TextShape {
  const anchor = style.textAnchor === "middle" || style.textAnchor === "end" ? style.textAnchor : "start";
  const weight = Number(style.fontWeight) >= 600;
  return {
    kind: "text",
    text,
    x,
    y,
    size: Number.parseFloat(style.fontSize),
    anchor,
    struckThrough: style.textDecorationLine === "line-through",
    ...rest,
    bold: rest.bold ?? weight,
  };
}

/** What one reads in an element: without explanations that only show on pointing, spaces as one. */
export function lettersOf(element: Element): string {
  const copy = element.cloneNode(true) as Element;
  for (const hidden of copy.querySelectorAll("title, .unseen")) hidden.remove();
  return copy.textContent.replaceAll(/\s+/g, " ").trim();
}
