import { hatchDistance, hatchWidth, type Colour, type Picture, type Shape, type Stroke } from "./picture";

/** The picture as an SVG document of its own. */
export function pictureSvg({ width, height, background, fontFamily, shapes }: Picture): string {
  const hatchings = [...new Set(shapes.flatMap((shape) => hatchingOf(shape)?.hex ?? []))];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${escape(fontFamily)}">`,
    ...hatchings.map(
      (hex) =>
        `<pattern id="${hatchId(hex)}" width="${hatchDistance}" height="${hatchDistance}" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="${hatchWidth}" height="${hatchDistance}" fill="${hex}"/></pattern>`,
    ),
    `<rect width="${width}" height="${height}" ${paint("fill", background)}/>`,
    ...shapes.map(element),
    "</svg>\n",
  ].join("\n");
}

function element(shape: Shape): string {
  if (shape.kind === "text") {
    const { text, x, y, size, bold, anchor, struckThrough, fill, halo } = shape;
    const attributes = [
      `x="${short(x)}" y="${short(y)}" font-size="${short(size)}"`,
      ...(bold ? ['font-weight="600"'] : []),
      ...(anchor === "start" ? [] : [`text-anchor="${anchor}"`]),
      ...(struckThrough ? ['text-decoration="line-through"'] : []),
      paint("fill", fill),
      ...(halo === undefined ? [] : [`${line(halo)} stroke-linejoin="round" paint-order="stroke"`]),
    ];
    return `<text ${attributes.join(" ")}>${escape(text)}</text>`;
  }
  const { path, x, y, fill, stroke } = shape;
  const attributes = [
    `d="${escape(path)}"`,
    ...(x === 0 && y === 0 ? [] : [`transform="translate(${short(x)} ${short(y)})"`]),
    fill === undefined
      ? 'fill="none"'
      : "hatching" in fill
        ? `fill="url(#${hatchId(fill.hatching.hex)})"`
        : paint("fill", fill),
    ...(stroke === undefined ? [] : [line(stroke)]),
  ];
  return `<path ${attributes.join(" ")}/>`;
}

function hatchingOf(shape: Shape): Colour | undefined {
  return shape.kind === "path" && shape.fill !== undefined && "hatching" in shape.fill
    ? shape.fill.hatching
    : undefined;
}

const hatchId = (hex: string): string => `hatch-${hex.slice(1)}`;

function paint(name: "fill" | "stroke", { hex, opacity }: Colour): string {
  return `${name}="${hex}"${opacity === 1 ? "" : ` ${name}-opacity="${short(opacity)}"`}`;
}

function line({ colour, width, dashes }: Stroke): string {
  const dashed = dashes.length === 0 ? "" : ` stroke-dasharray="${dashes.map(short).join(" ")}"`;
  return `${paint("stroke", colour)} stroke-width="${short(width)}"${dashed}`;
}

const short = (value: number): string => String(Math.round(value * 100) / 100);

/** Also without the control characters that XML does not allow. */
function escape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
}
