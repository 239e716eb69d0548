export interface Colour {
  /** `#rrggbb` */
  readonly hex: string;
  /** 0 … 1 */
  readonly opacity: number;
}

let pixel: OffscreenCanvasRenderingContext2D | null = null;

/** A colour as the browser computes it, in any notation (`rgb()`, `color(srgb …)`), from the pixel it makes. */
export function colourOf(css: string): Colour {
  pixel ??= new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  if (pixel === null) return { hex: "#000000", opacity: 1 };
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = css;
  pixel.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0, alpha = 0] = pixel.getImageData(0, 0, 1, 1).data;
  const hex = [red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("");
  return { hex: `#${hex}`, opacity: Math.round((1000 * alpha) / 255) / 1000 };
}
