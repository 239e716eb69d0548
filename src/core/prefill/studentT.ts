/** Quantile of a normal distribution: four fifths lie between it and its negative. */
export const normal80 = 1.2816;

/** The same of Student's t with few degrees of freedom: a spread that was learned from few values may be larger. */
export function quantile80(freedom: number): number {
  const exact = [3.078, 1.886, 1.638, 1.533, 1.476][Math.ceil(freedom) - 1];
  return exact ?? normal80 + (normal80 ** 3 + normal80) / (4 * freedom);
}
