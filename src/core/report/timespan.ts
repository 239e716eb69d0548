/** Seconds, with the 80 % band. */
export interface Timespan {
  readonly seconds: number;
  readonly lowSeconds: number;
  readonly highSeconds: number;
}
