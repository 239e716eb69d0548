import type { Text } from "./text";
import type { UserErrorReason } from "./userError";
import { UserError } from "./userError";

/** A part of a report that is there, or why it is not and the one next step towards it. */
export type Known<T> =
  | { readonly known: true; readonly value: T }
  | { readonly known: false; readonly why: Text; readonly remedy: Text; readonly reason?: UserErrorReason };

export const known = <T>(value: T): Known<T> => ({ known: true, value });
export const unknown = (why: Text, remedy: Text): Known<never> => ({ known: false, why, remedy });
export const valueOf = <T>(part: Known<T>): T | undefined => (part.known ? part.value : undefined);

export const unknownBecause = ({ problem, remedy, reason }: UserError): Known<never> => ({
  known: false,
  why: problem,
  remedy,
  reason,
});

/** What the work gives, or the `UserError` it failed with as an unknown; bugs and aborts go on. */
export async function knownOr<T>(work: Promise<T>): Promise<Known<T>> {
  try {
    return known(await work);
  } catch (error) {
    if (error instanceof UserError) return unknownBecause(error);
    throw error;
  }
}
