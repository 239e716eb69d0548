import type { Text } from "./text";

/** A part of a report that is there, or why it is not and the one next step towards it. */
export type Known<T> =
  | { readonly known: true; readonly value: T }
  | { readonly known: false; readonly why: Text; readonly remedy: Text };

export const known = <T>(value: T): Known<T> => ({ known: true, value });
export const unknown = (why: Text, remedy: Text): Known<never> => ({ known: false, why, remedy });
export const valueOf = <T>(part: Known<T>): T | undefined => (part.known ? part.value : undefined);
