import { isAlias, isMap, isNode, isScalar, isSeq, type LineCounter, type Node } from "yaml";
import { closestName } from "../../launch/closestName";
import { count, say } from "../../text";
import type { Text } from "../../text";
import { UserError } from "../../userError";

/** What is wrong in which line and field, and what to write instead. */
export class PlanError extends UserError {
  /** Also one from another bundle of ours. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === "UserError" && "planLine" in value;
  }

  constructor(
    readonly planLine: number,
    readonly field: string,
    readonly about: Text,
    remedy: Text,
  ) {
    super("invalidInput", say`Line ${String(planLine)}, ${field}: ${about}`, remedy);
  }
}

export const planError = (line: number, field: string, problem: Text, remedy: Text): PlanError =>
  new PlanError(line, field, problem, remedy);

/** A value and the line it begins in; one that is left out is null and stands where its name is. */
interface PlacedNode {
  readonly node: Node | null;
  readonly line: number;
}

interface PlanField extends PlacedNode {
  readonly name: string;
  readonly nameLine: number;
}

/** The fields of one map of the plan, read by name with the type they must have. */
export class PlanReader {
  readonly line: number;
  readonly #fields: readonly PlanField[];

  constructor(
    { node, line }: PlacedNode,
    private readonly lines: LineCounter,
    readonly path: string,
    names: readonly string[],
  ) {
    this.line = line;
    if (!isMap(node)) {
      throw planError(
        line,
        path === "" ? "plan" : path,
        say`this must have fields, not ${isSeq(node) ? say`a list` : say`a single value`}.`,
        say`Write it as \`name: value\` lines; its fields are ${names.join(", ")}.`,
      );
    }
    this.#fields = node.items.map(({ key, value }): PlanField => {
      const nameLine = this.#lineAt(key, line);
      const name = isScalar(key) ? String(key.value) : "?";
      return { name, nameLine, node: isNode(value) ? value : null, line: this.#lineAt(value, nameLine) };
    });
    for (const field of this.#fields) {
      if (names.includes(field.name)) continue;
      const close = closestName(field.name, names);
      throw planError(
        field.nameLine,
        this.#name(field.name),
        say`there is no such field.`,
        close === undefined
          ? say`Use one of ${names.join(", ")}.`
          : say`Did you mean ${close}? Valid fields are ${names.join(", ")}.`,
      );
    }
    const given = this.#fields.map(({ name }) => name);
    const twice = this.#fields.find(({ name }, i) => given.indexOf(name) !== i);
    if (twice !== undefined) {
      throw planError(
        twice.nameLine,
        this.#name(twice.name),
        say`this field appears twice.`,
        say`Keep one of them.`,
      );
    }
  }

  has(name: string): boolean {
    return this.#field(name) !== undefined;
  }

  lineOf(name: string): number {
    return this.#field(name)?.nameLine ?? this.line;
  }

  map(name: string, names: readonly string[]): PlanReader | undefined {
    const field = this.#field(name);
    return field && new PlanReader(field, this.lines, this.#name(name), names);
  }

  /** A plain value; undefined where there is none. */
  scalar(name: string): string | number | boolean | null | undefined {
    const field = this.#field(name);
    return field && valueOf(field.node);
  }

  fail(name: string, problem: Text, remedy: Text): UserError {
    return planError(this.lineOf(name), this.#name(name), problem, remedy);
  }

  /** A number in range; `8K` is 8 × 1024. */
  number(
    name: string,
    {
      least,
      most,
      whole = true,
    }: { readonly least: number; readonly most: number; readonly whole?: boolean },
  ): number | undefined {
    const field = this.#field(name);
    return field && numberOf(field, this.#name(name), { least, most, whole });
  }

  numbers(
    name: string,
    range: { readonly least: number; readonly most: number; readonly whole?: boolean },
  ): readonly number[] | undefined {
    const field = this.#field(name);
    if (field === undefined) return undefined;
    if (!isSeq(field.node)) {
      throw planError(
        field.line,
        this.#name(name),
        say`this must be a list.`,
        say`Write it as [8K, 32K, 64K].`,
      );
    }
    return field.node.items.map((item, i) => {
      const placed = { node: isNode(item) ? item : null, line: this.#lineAt(item, field.line) };
      return numberOf(placed, `${this.#name(name)}[${i}]`, { whole: true, ...range });
    });
  }

  boolean(name: string): boolean | undefined {
    const field = this.#field(name);
    if (field === undefined) return undefined;
    const value = valueOf(field.node);
    if (typeof value === "boolean") return value;
    if (value === "on" || value === "off") return value === "on";
    throw planError(
      field.line,
      this.#name(name),
      say`this must be true or false.`,
      say`Write true or false.`,
    );
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
    const field = this.#field(name);
    if (field === undefined) return undefined;
    const raw = valueOf(field.node);
    const word = raw === true ? "on" : raw === false ? "off" : raw;
    const value = values.find((candidate) => candidate === word);
    if (value !== undefined) return value;
    throw planError(
      field.line,
      this.#name(name),
      say`this is not one of the possible values.`,
      say`Write one of ${values.join(", ")}.`,
    );
  }

  #field(name: string): PlanField | undefined {
    const field = this.#fields.find((each) => each.name === name);
    if (!isAlias(field?.node)) return field;
    throw planError(
      field.line,
      this.#name(name),
      say`only plain values, lists and maps are allowed here.`,
      say`Write the value directly.`,
    );
  }

  #lineAt(node: unknown, otherwise: number): number {
    return isNode(node) && node.range ? this.lines.linePos(node.range[0]).line : otherwise;
  }

  #name(field: string): string {
    return this.path === "" ? field : `${this.path}.${field}`;
  }
}

/** A number that JavaScript cannot hold stays as it was written. */
function valueOf(node: Node | null): string | number | boolean | null | undefined {
  if (node === null) return null;
  if (!isScalar(node)) return undefined;
  const { value } = node;
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return node.source ?? String(value);
  }
  const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return isPlain || value === null ? value : undefined;
}

function numberOf(
  { node, line }: PlacedNode,
  name: string,
  { least, most, whole }: { readonly least: number; readonly most: number; readonly whole: boolean },
): number {
  const raw = valueOf(node);
  const short = typeof raw === "string" ? /^(\d+(?:\.\d+)?)\s*[kK]$/.exec(raw.trim())?.[1] : undefined;
  const value =
    typeof raw === "number" ? raw : short === undefined ? Number.NaN : Math.round(Number(short) * 1024);
  if (Number.isFinite(value) && value >= least && value <= most && (!whole || Number.isInteger(value)))
    return value;
  throw planError(
    line,
    name,
    whole ? say`this must be a whole number within range.` : say`this number is out of range.`,
    say`Write a number from ${count(least)} to ${count(most)}; 8K means 8192.`,
  );
}
