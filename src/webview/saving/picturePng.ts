import { hatchDistance, hatchWidth, type Colour, type Hatching, type Picture, type Shape } from "./picture";

/** Pixels per pixel of the page: sharp in print and on dense screens. */
const scale = 2;

/** The picture as a PNG file. Drawn shape by shape: the page's policy lets no image in, not even one of its own. */
export async function picturePng(picture: Picture): Promise<Uint8Array> {
  const canvas = new OffscreenCanvas(picture.width * scale, picture.height * scale);
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("no canvas to draw on");
  context.scale(scale, scale);
  context.fillStyle = css(picture.background);
  context.fillRect(0, 0, picture.width, picture.height);
  for (const shape of picture.shapes) draw(context, shape, picture.fontFamily);
  const blob = await canvas.convertToBlob({ type: "image/png" });
  return new Uint8Array(await blob.arrayBuffer());
}

function draw(context: OffscreenCanvasRenderingContext2D, shape: Shape, fontFamily: string): void {
  context.save();
  if (shape.kind === "text") drawText(context, shape, fontFamily);
  else {
    context.translate(shape.x, shape.y);
    const path = new Path2D(shape.path);
    if (shape.fill !== undefined) {
      context.fillStyle = fillStyle(context, shape.fill);
      context.fill(path);
    }
    if (shape.stroke !== undefined) {
      context.strokeStyle = css(shape.stroke.colour);
      context.lineWidth = shape.stroke.width;
      context.setLineDash([...shape.stroke.dashes]);
      context.stroke(path);
    }
  }
  context.restore();
}

function drawText(
  context: OffscreenCanvasRenderingContext2D,
  { text, x, y, size, bold, anchor, struckThrough, fill, halo }: Shape & { readonly kind: "text" },
  fontFamily: string,
): void {
  context.font = `${bold ? "600 " : ""}${size}px ${fontFamily}`;
  context.textAlign = anchor === "middle" ? "center" : anchor === "end" ? "right" : "left";
  if (halo !== undefined) {
    context.strokeStyle = css(halo.colour);
    context.lineWidth = halo.width;
    context.lineJoin = "round";
    context.strokeText(text, x, y);
  }
  context.fillStyle = css(fill);
  context.fillText(text, x, y);
  if (!struckThrough) return;
  const { actualBoundingBoxLeft: left, actualBoundingBoxRight: right } = context.measureText(text);
  context.fillRect(x - left, y - size * 0.32, left + right, 1);
}

function fillStyle(
  context: OffscreenCanvasRenderingContext2D,
  fill: Colour | Hatching,
): string | CanvasPattern {
  if (!("hatching" in fill)) return css(fill);
  const tile = new OffscreenCanvas(hatchDistance, hatchDistance);
  const inTile = tile.getContext("2d");
  const pattern = inTile && context.createPattern(fillTile(tile, inTile, fill.hatching), "repeat");
  if (pattern === null) return "transparent";
  pattern.setTransform(new DOMMatrix().rotate(45));
  return pattern;
}

function fillTile(
  tile: OffscreenCanvas,
  context: OffscreenCanvasRenderingContext2D,
  colour: Colour,
): OffscreenCanvas {
  context.fillStyle = css(colour);
  context.fillRect(0, 0, hatchWidth, hatchDistance);
  return tile;
}

function css({ hex, opacity }: Colour): string {
  const alpha = Math.round(opacity * 255);
  return `${hex}${alpha.toString(16).padStart(2, "0")}`;
}
