import { colourOf } from "./colours";

const namespace = "http://www.w3.org/2000/svg";

/** What places an element or shapes it; colours, lines and letters come from the style sheet. */
const shaping: readonly string[] = [
  ...["x", "y", "width", "height", "rx", "ry", "cx", "cy", "r", "x1", "y1", "x2", "y2", "dx", "dy", "d"],
  ...["points", "transform", "viewBox", "patternUnits", "patternTransform"],
];

/** With what holds where nothing is said. */
const styling: Readonly<Record<string, string>> = {
  ...{ opacity: "1", "fill-opacity": "1", "stroke-opacity": "1", "stroke-width": "1px" },
  ...{ "stroke-dasharray": "none", "stroke-linejoin": "miter", "paint-order": "normal" },
  "dominant-baseline": "auto",
};

const lettering: readonly string[] = ["font-size", "font-weight", "text-anchor"];

export function element(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const made = document.createElementNS(namespace, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

/** A text in a style of the page. */
export function textElement(text: string, x: number, y: number, style: CSSStyleDeclaration): SVGElement {
  const made = element("text", { x, y, "font-size": style.fontSize, "font-weight": style.fontWeight });
  paint(made, "fill", style.color);
  made.textContent = writable(text);
  return made;
}

/**
 * A copy of what is drawn on the page that needs no style sheet: the computed style is in its attributes, in colours every
 * program understands. Patterns that it is filled with are added to `patterns`.
 */
export function ownDrawing(drawn: Element, patterns: Map<string, SVGElement>): SVGElement | undefined {
  const style = getComputedStyle(drawn);
  if (style.display === "none" || ["title", "desc", "defs"].includes(drawn.localName)) return undefined;
  // a drawing inside a picture would be cut off at its edges
  const made = element(drawn instanceof SVGSVGElement ? "g" : drawn.localName, {});
  for (const key of drawn instanceof SVGSVGElement ? [] : shaping) {
    const value = drawn.getAttribute(key);
    if (value !== null) made.setAttribute(key, value);
  }
  const letters = ["text", "tspan"].includes(made.localName);
  if (!["g", "pattern"].includes(made.localName)) wear(made, style, patterns, letters ? lettering : []);
  else if (style.opacity !== "1") made.setAttribute("opacity", style.opacity);
  for (const child of drawn.childNodes) {
    if (letters && child instanceof Text) made.append(writable(child.data));
    const copy = child instanceof SVGElement ? ownDrawing(child, patterns) : undefined;
    if (copy !== undefined) made.append(copy);
  }
  return made;
}

/** Every element that is seen has all of its style: nothing is left to what it is in, but the opacity. */
function wear(
  made: SVGElement,
  style: CSSStyleDeclaration,
  patterns: Map<string, SVGElement>,
  always: readonly string[],
): void {
  for (const key of always) made.setAttribute(key, style.getPropertyValue(key));
  for (const [key, usual] of Object.entries(styling)) {
    const value = style.getPropertyValue(key);
    if (value !== usual || made.localName === "tspan") made.setAttribute(key, value);
  }
  if (style.textDecorationLine === "line-through") made.setAttribute("text-decoration", "line-through");
  paint(made, "stroke", style.stroke);
  const pattern = /^url\("?#([^")]+)"?\)/.exec(style.fill)?.[1];
  if (pattern === undefined) paint(made, "fill", style.fill);
  else {
    addPattern(pattern, patterns);
    made.setAttribute("fill", `url(#${pattern})`);
  }
}

function addPattern(id: string, patterns: Map<string, SVGElement>): void {
  const drawn = document.getElementById(id);
  const copy = patterns.has(id) || drawn === null ? undefined : ownDrawing(drawn, patterns);
  copy?.setAttribute("id", id);
  if (copy !== undefined) patterns.set(id, copy);
}

function paint(made: SVGElement, name: "fill" | "stroke", css: string): void {
  if (css === "none" && name === "stroke") return;
  const { hex, opacity } = css === "none" ? { hex: "none", opacity: 1 } : colourOf(css);
  made.setAttribute(name, hex);
  if (opacity === 1) return;
  const own = Number(made.getAttribute(`${name}-opacity`) ?? 1);
  made.setAttribute(`${name}-opacity`, String(own * opacity));
}

/** Without the control characters that XML does not allow. */
const writable = (text: string): string =>
  text.replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
