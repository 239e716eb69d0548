import { ownValue } from "./ownValue";
/** A value from outside that is not what it must be; `message` says where and why. */
export class UnexpectedValue extends Error {
  override readonly name = "UnexpectedValue";

  constructor(
    readonly where: string,
    readonly value: unknown,
    readonly expected: string,
  ) {
    super(`${where} is ${kindOf(value)}, not ${expected}`);
  }
}

const maxText = 1000;

/** One value of a JSON document from outside and where it stands in it, read with the type it must have. */
export class Wire {
  constructor(
    private readonly value: unknown,
    readonly where: string,
  ) {}

  /** undefined where the text is no JSON. */
  static ofJson(text: string, where: string): Wire | undefined {
    try {
      return new Wire(JSON.parse(text), where);
    } catch {
      return undefined;
    }
  }

  at(key: string): Wire {
    return new Wire(ownValue(this.object(), key), this.where === "" ? key : `${this.where}.${key}`);
  }

  get absent(): boolean {
    return this.value === undefined || this.value === null;
  }

  object(): Readonly<Record<string, unknown>> {
    if (typeof this.value === "object" && this.value !== null && !Array.isArray(this.value)) {
      return this.value as Readonly<Record<string, unknown>>;
    }
    return this.wrong("an object");
  }

  items(): readonly Wire[] {
    if (!Array.isArray(this.value)) return this.wrong("an array");
    return this.value.map((item: unknown, index) => new Wire(item, `${this.where}[${index}]`));
  }

  /** A number llama.cpp counts with: a whole number that JavaScript holds exactly, at least `least`. */
  count(least: number): number {
    if (typeof this.value === "number" && Number.isSafeInteger(this.value) && this.value >= least) {
      return this.value;
    }
    return this.wrong(least > 0 ? "a positive whole number" : "a whole number");
  }

  number(least = -Infinity, most = Infinity): number {
    const { value } = this;
    const within = typeof value === "number" && Number.isFinite(value) && value >= least && value <= most;
    return within ? value : this.wrong("a number within range");
  }

  /** Milliseconds since the epoch that are a date: others have no day and no year. */
  time(): number {
    return this.number(-8.64e15, 8.64e15);
  }

  boolean(): boolean {
    return typeof this.value === "boolean" ? this.value : this.wrong("true or false");
  }

  /** A name or path; cut where it is absurdly long. */
  text(): string {
    return this.longText().slice(0, maxText);
  }

  longText(): string {
    return typeof this.value === "string" ? this.value : this.wrong("a text");
  }

  oneOf<T extends string | number | boolean>(values: readonly T[]): T {
    return values.find((known) => known === this.value) ?? this.wrong(`one of ${values.join(", ")}`);
  }

  is<T>(guard: (value: unknown) => value is T, expected: string): T {
    return guard(this.value) ? this.value : this.wrong(expected);
  }

  /** `read` where there is something, else undefined. */
  optional<T>(read: (value: Wire) => T): T | undefined {
    return this.absent ? undefined : read(this);
  }

  /** `read` where it finds what it wants, else undefined: another version or a hand may have written something else. */
  ifFits<T>(read: (value: Wire) => T): T | undefined {
    // most records leave most of their fields out, and an error takes as long to make as a record to read
    if (this.value === undefined) return undefined;
    try {
      return read(this);
    } catch (cause) {
      if (cause instanceof UnexpectedValue) return undefined;
      throw cause;
    }
  }

  /** Those items in which `read` finds what it wants; none where there is no array. */
  fitting<T>(read: (item: Wire) => T | undefined): readonly T[] {
    const items = this.ifFits((value) => value.items()) ?? [];
    return items.flatMap((item) => item.ifFits(read) ?? []);
  }

  wrong(expected: string): never {
    throw new UnexpectedValue(this.where, this.value, expected);
  }
}

function kindOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : typeof value === "object" ? "an object" : `a ${typeof value}`;
}
