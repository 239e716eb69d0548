import { count, say } from "../text";
import { UserError } from "../userError";
import { mostPaths } from "./agentTools";

export interface FilesQuestion {
  readonly paths: readonly string[];
  readonly details: boolean;
  /** Only of a plan. */
  readonly budgetTokens?: number;
  readonly budgetSeconds?: number;
}

/**
 * What an agent asked, checked: models write numbers as texts, one path for a list of one, and make up fields.
 * @throws UserError naming the field
 */
export function filesQuestion(input: unknown): FilesQuestion {
  const fields = fieldsOf(input);
  const { paths, details } = fields;
  const budgetTokens = wholeNumber(fields, "budget_tokens");
  const budgetSeconds = wholeNumber(fields, "budget_seconds");
  return {
    paths: pathsOf(paths),
    details: details === true || details === "true",
    ...(budgetTokens !== undefined && { budgetTokens }),
    ...(budgetSeconds !== undefined && { budgetSeconds }),
  };
}

function fieldsOf(input: unknown): Readonly<Record<string, unknown>> {
  if (typeof input === "object" && input !== null && !Array.isArray(input)) {
    return input as Readonly<Record<string, unknown>>;
  }
  throw wrong("arguments");
}

function pathsOf(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > mostPaths) {
    throw new UserError(
      "tooLarge",
      say`paths has ${count(list.length)} entr[y|ies], more than ${count(mostPaths)}.`,
      say`Name folders instead of their files.`,
    );
  }
  const names = list.filter((item): item is string => typeof item === "string" && item.trim() !== "");
  if (names.length === 0 || names.length < list.length) throw wrong("paths");
  return names;
}

function wholeNumber(fields: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  const number = typeof value === "string" && /^\d{1,15}$/.test(value.trim()) ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number) && number > 0) return number;
  throw wrong(name);
}

const wrong = (field: string): UserError =>
  new UserError(
    "invalidInput",
    say`${field} is missing or has the wrong type.`,
    say`See the tool's input schema.`,
  );
