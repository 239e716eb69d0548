import { say, type Text } from "../text";

declare const catalogued: unique symbol;

/** A text that stands in the catalogue: nobody else can make one, so no surface words a cause or remedy of its own. */
export type CauseText = Text & { readonly [catalogued]: true };

/** The one thing to change next; one at a time, or no cause can be named afterwards. */
export type Variable =
  "weights" | "kvCache" | "backend" | "placement" | "length" | "plan" | "load" | "nothing";

/** How the catalogue writes down a cause; its parameters are the facts that the sentence needs. */
export interface Entry {
  readonly sentence: Text;
  /** The best first. */
  readonly remedies: readonly Text[];
  readonly change?: Variable;
}

export interface Cause<Id extends string = string> {
  readonly id: Id;
  readonly sentence: CauseText;
  /** The best first. */
  readonly remedies: readonly CauseText[];
}

/** A cause of which it is known what to change for it. */
export type ChangingCause<Id extends string = string> = Cause<Id> & { readonly change: Variable };

type Entries = Readonly<Record<string, (...facts: never[]) => Entry>>;

export type Catalogue<E extends Entries> = {
  readonly [Id in keyof E & string]: (
    ...facts: Parameters<E[Id]>
  ) => Cause<Id> & Omit<ReturnType<E[Id]>, "sentence" | "remedies">;
};

/** The only maker of causes. */
export const catalogue = <E extends Entries>(entries: E): Catalogue<E> =>
  Object.fromEntries(
    Object.entries(entries).map(([id, entry]) => [id, (...facts: never[]) => ({ id, ...entry(...facts) })]),
  ) as unknown as Catalogue<E>;

/** All that is recommended, in one text. */
export const remedyOf = ({ remedies }: Cause): CauseText =>
  remedies.reduce((all, next) => say`${all} ${next}` as CauseText);

/** The cause with what shows that it is this one. */
export const shownBy = ({ sentence }: Cause, evidence: Text | undefined): CauseText =>
  evidence === undefined ? sentence : (say`${sentence} ${evidence}` as CauseText);
