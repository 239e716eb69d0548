import type { Text } from "../text";

/** How long a prompt takes to read, and how sure that is. */
export type Prediction =
  | {
      readonly known: true;
      readonly seconds: number;
      /** Ends of the 80 % band. */
      readonly lowSeconds: number;
      readonly highSeconds: number;
      readonly generationTokensPerSecond?: number;
      /** Ends of its 80 % band. */
      readonly generationLowTokensPerSecond?: number;
      readonly generationHighTokensPerSecond?: number;
      readonly basis: PredictionBasis;
    }
  | { readonly known: false; readonly reason: Text; readonly basis?: PredictionBasis };

export interface PredictionBasis {
  /** Deepest position (tokens) a point of the curve reaches. */
  readonly deepestDepth: number;
  readonly points: number;
  /** How much more the first tokens cost than deeper ones, where that was so: left out, and 0.2 is 20 %. */
  readonly warmUp?: number;
}
