/** A colour the way every program understands it. */
export interface Colour {
  /** `#rrggbb` */
  readonly hex: string;
  /** 0 … 1 */
  readonly opacity: number;
}

/** Slanted lines of one colour, 6 apart. */
export interface Hatching {
  readonly hatching: Colour;
}

export interface Stroke {
  readonly colour: Colour;
  readonly width: number;
  readonly dashes: readonly number[];
}

/** Drawn in the page's pixels, moved by (x, y). */
export type Shape =
  | {
      readonly kind: "path";
      /** As in SVG. */
      readonly path: string;
      readonly x: number;
      readonly y: number;
      readonly fill?: Colour | Hatching;
      readonly stroke?: Stroke;
    }
  | {
      readonly kind: "text";
      readonly text: string;
      readonly x: number;
      readonly y: number;
      readonly size: number;
      readonly bold: boolean;
      readonly anchor: "start" | "middle" | "end";
      readonly struckThrough: boolean;
      readonly fill: Colour;
      /** Behind the letters, so that they stand out from lines. */
      readonly halo?: Stroke;
    };

/** A drawing that depends on no style sheet, theme or page. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly background: Colour;
  readonly fontFamily: string;
  readonly shapes: readonly Shape[];
}

export const hatchDistance = 6;
export const hatchWidth = 1.5;
