import { closestName } from "../../launch/closestName";
import { count, say } from "../../text";
import type { Text } from "../../text";
import { UserError } from "../../userError";
import type { PlanField, PlanNode } from "./planNode";

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

/** The fields of one map of the plan, read by name with the type they must have. */
export class PlanReader {
  readonly #fields: readonly PlanField[];

  constructor(
    node: PlanNode,
    readonly path: string,
    names: readonly string[],
  ) {
    if (node.kind !== "map") {
      throw planError(
        node.line,
        path === "" ? "plan" : path,
        say`this must have fields, not ${kindName(node)}.`,
        say`Write it as \`name: value\` lines; its fields are ${names.join(", ")}.`,
      );
    }
    this.line = node.line;
    this.#fields = node.fields;
    for (const field of node.fields) {
      if (names.includes(field.name)) continue;
      const close = closestName(field.name, names);
      throw planError(
        field.line,
        this.#name(field.name),
        say`there is no such field.`,
        close === undefined
          ? say`Use one of ${names.join(", ")}.`
          : say`Did you mean ${close}? Valid fields are ${names.join(", ")}.`,
      );
    }
    const names2 = node.fields.map((field) => field.name);
    const twice = node.fields.find((field, i) => names2.indexOf(field.name) !== i);
    if (twice !== undefined) {
      throw planError(
        twice.line,
        this.#name(twice.name),
        say`this field appears twice.`,
        say`Keep one of them.`,
      );
    }
  }

  readonly line: number;

  has(name: string): boolean {
    return this.node(name) !== undefined;
  }

  node(name: string): PlanNode | undefined {
    return this.#fields.find((field) => field.name === name)?.node;
  }

  lineOf(name: string): number {
    return this.#fields.find((field) => field.name === name)?.line ?? this.line;
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
    const node = this.node(name);
    return node === undefined ? undefined : numberOf(node, this.#name(name), { least, most, whole });
  }

  numbers(
    name: string,
    range: { readonly least: number; readonly most: number; readonly whole?: boolean },
  ): readonly number[] | undefined {
    const node = this.node(name);
    if (node === undefined) return undefined;
    if (node.kind !== "list") {
      throw planError(
        node.line,
        this.#name(name),
        say`this must be a list.`,
        say`Write it as [8K, 32K, 64K].`,
      );
    }
    return node.items.map((item, i) =>
      numberOf(item, `${this.#name(name)}[${i}]`, { whole: true, ...range }),
    );
  }

  boolean(name: string): boolean | undefined {
    const node = this.node(name);
    if (node === undefined) return undefined;
    if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
    if (node.kind === "scalar" && (node.value === "on" || node.value === "off")) return node.value === "on";
    throw planError(node.line, this.#name(name), say`this must be true or false.`, say`Write true or false.`);
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
    const node = this.node(name);
    if (node === undefined) return undefined;
    const raw = node.kind === "scalar" ? node.value : undefined;
    const word = raw === true ? "on" : raw === false ? "off" : raw;
    const value = values.find((candidate) => candidate === word);
    if (value !== undefined) return value;
    throw planError(
      node.line,
      this.#name(name),
      say`this is not one of the possible values.`,
      say`Write one of ${values.join(", ")}.`,
    );
  }

  #name(field: string): string {
    return this.path === "" ? field : `${this.path}.${field}`;
  }
}

function numberOf(
  node: PlanNode,
  name: string,
  { least, most, whole }: { readonly least: number; readonly most: number; readonly whole: boolean },
): number {
  const raw = node.kind === "scalar" ? node.value : undefined;
  const short = typeof raw === "string" ? /^(\d+(?:\.\d+)?)\s*[kK]$/.exec(raw.trim())?.[1] : undefined;
  const value =
    typeof raw === "number" ? raw : short === undefined ? Number.NaN : Math.round(Number(short) * 1024);
  if (Number.isFinite(value) && value >= least && value <= most && (!whole || Number.isInteger(value)))
    return value;
  throw planError(
    node.line,
    name,
    whole ? say`this must be a whole number within range.` : say`this number is out of range.`,
    say`Write a number from ${count(least)} to ${count(most)}; 8K means 8192.`,
  );
}

function kindName(node: PlanNode): Text {
  return node.kind === "list" ? say`a list` : say`a single value`;
}
