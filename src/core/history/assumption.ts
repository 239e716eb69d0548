import { flagsLike, sameModel } from "../llamaBench/speedSetup";
import type { CurveKey } from "../prefill/depthCurve";
import { say, type Text } from "../text";

export const missingFields = ["model", "build", "options"] as const;

export type MissingField = (typeof missingFields)[number];

/** What an imported curve does not tell of its setup, and what the user said about it. */
export interface Assumption {
  /** The setup that was asked about: its model. */
  readonly model: string;
  readonly missing: readonly MissingField[];
  /** Whether the curve is taken to be of that setup; else it is only shown. */
  readonly use: boolean;
  /** The curve's own key. */
  readonly told: CurveKey;
}

/** The user's answer about a setup. */
export interface ImportAnswer {
  readonly setup: CurveKey;
  readonly use: boolean;
}

/** A table's name for a model is not its file. */
export function missingOf(told: CurveKey, setup: CurveKey): readonly MissingField[] {
  return [
    ...(told.untold?.includes("model") === true || !sameModel(told.model, setup.model)
      ? (["model"] as const)
      : []),
    ...(told.build === "" ? (["build"] as const) : []),
    ...(told.untold?.includes("flags") === true ? (["options"] as const) : []),
  ];
}

/** The curve's own key, and of the setup's what it does not tell. */
export function keyLike(own: CurveKey, setup: CurveKey): CurveKey {
  const { backend, hardware } = own;
  return {
    model: setup.model,
    build: own.build === "" ? setup.build : own.build,
    flags: own.untold?.includes("flags") === true ? setup.flags : flagsLike(own.flags, setup.flags),
    ...(backend !== undefined && { backend }),
    ...(hardware !== undefined && { hardware }),
  };
}

/** The key an imported curve gets by the user's answer, and what is remembered of it. */
export function assumedKey(
  told: CurveKey,
  { setup, use }: ImportAnswer,
): { readonly key: CurveKey; readonly assumed?: Assumption } {
  const missing = missingOf(told, setup);
  const key = use ? keyLike(told, setup) : told;
  return missing.length === 0 ? { key } : { key, assumed: { model: setup.model, missing, use, told } };
}

/**
 * What the user said before about the same model and curves that lack the same; undefined where there is nothing to
 * remember, or where several curves were answered differently.
 */
export function rememberedAnswer(
  records: readonly { readonly assumed?: Assumption }[],
  curves: readonly { readonly key: CurveKey }[],
  setup: CurveKey,
): boolean | undefined {
  const answers = curves.map(({ key }) => {
    const missing = missingOf(key, setup).join();
    return records.findLast(
      ({ assumed }) =>
        assumed?.model === setup.model &&
        assumed.told.model === key.model &&
        assumed.missing.join() === missing,
    )?.assumed?.use;
  });
  const [first] = answers;
  return answers.every((answer) => answer === first) ? first : undefined;
}

const names: Readonly<Record<MissingField, Text>> = {
  model: say`model`,
  build: say`build`,
  options: say`options`,
};

const listed = ([first, ...rest]: readonly MissingField[]): Text =>
  rest.reduce((all, one) => say`${all}, ${names[one]}`, first === undefined ? say`` : names[first]);

/** What was assumed of an import, in a sentence. */
export const assumedText = ({ missing, use }: Pick<Assumption, "missing" | "use">): Text =>
  use
    ? say`Assumed of the import, which does not tell: ${listed(missing)} as in this setup.`
    : say`Only shown: the import does not tell its ${listed(missing)}, and was said to be of another setup.`;
