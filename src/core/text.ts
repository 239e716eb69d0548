import { withoutSecrets } from "./withoutSecrets";

/** A number with its unit, formatted only where it is shown. */
export type Quantity =
  | { readonly unit: "count"; readonly value: number }
  | { readonly unit: "bytes"; readonly value: number }
  | { readonly unit: "seconds"; readonly value: number }
  | { readonly unit: "tokensPerSecond"; readonly value: number }
  | { readonly unit: "percent"; readonly value: number };

export type TextArg = string | Quantity | Text;

/**
 * A sentence that has not been put into a language yet: an English template with `{0}`, `{1}`, … and its arguments.
 * The template is also the key of its translation.
 */
export interface Text {
  readonly text: string;
  readonly args: readonly TextArg[];
}

/**
 * Tag of translatable sentences: say`${count(3)} file[s]` is `{ text: "{0} file[s]", args: [3] }`.
 * Words that follow a count are written as `[one|other]`, or as `[s]` and `[es]` where only an ending is added:
 * say`${count(3)} entr[y|ies] [is|are] kept`. A translation brackets what its own language inflects, or nothing.
 */
export function say(strings: TemplateStringsArray, ...args: readonly TextArg[]): Text {
  let text = strings[0] ?? "";
  args.forEach((_, i) => (text += `{${i}}${strings[i + 1] ?? ""}`));
  // here, because a sentence is shown, logged, kept and exported by whoever gets it
  return { text, args: args.map((arg) => (typeof arg === "string" ? withoutSecrets(arg) : arg)) };
}

export const count = (value: number): Quantity => ({ unit: "count", value });
export const bytes = (value: number): Quantity => ({ unit: "bytes", value });
export const seconds = (value: number): Quantity => ({ unit: "seconds", value });
export const tokensPerSecond = (value: number): Quantity => ({ unit: "tokensPerSecond", value });
export const percent = (value: number): Quantity => ({ unit: "percent", value });

export function isText(value: unknown): value is Text {
  return (
    typeof value === "object" &&
    value !== null &&
    "text" in value &&
    "args" in value &&
    Array.isArray(value.args)
  );
}
