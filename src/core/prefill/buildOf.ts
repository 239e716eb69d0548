/**
 * The number of a llama.cpp build as its programs write it: llama-server `b11669-Debian`, llama-bench `Debian (11669)`.
 * undefined where there is none.
 */
export function buildOf(text: string): number | undefined {
  const digits = /^b?(\d{3,6})\b/.exec(text)?.[1] ?? /\((\d{3,6})\)$/.exec(text.trim())?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Whether both are the same build. What nobody knows is not the same. */
export function sameBuild(one: string, other: string): boolean {
  if (one === "" || other === "") return false;
  const [first, second] = [buildOf(one), buildOf(other)];
  return first !== undefined && second !== undefined ? first === second : one === other;
}
