/** A server's reply that is not what llama-server sends; `message` says where and why. */
export class UnexpectedReply extends Error {
  override readonly name = "UnexpectedReply";
}

export type WireObject = Readonly<Record<string, unknown>>;

const maxText = 1000;

/** One value of a reply and where it stands in it, read with the type it must have. */
export class Wire {
  constructor(
    private readonly value: unknown,
    readonly where: string,
  ) {}

  at(key: string): Wire {
    return new Wire(this.object()[key], `${this.where}.${key}`);
  }

  get absent(): boolean {
    return this.value === undefined || this.value === null;
  }

  object(): WireObject {
    if (typeof this.value === "object" && this.value !== null && !Array.isArray(this.value)) {
      return this.value as WireObject;
    }
    return this.#wrong("an object");
  }

  items(): readonly Wire[] {
    if (!Array.isArray(this.value)) return this.#wrong("an array");
    return this.value.map((item: unknown, index) => new Wire(item, `${this.where}[${index}]`));
  }

  /** A number llama.cpp counts with: a whole number that JavaScript holds exactly, at least `least`. */
  count(least: number): number {
    if (typeof this.value === "number" && Number.isSafeInteger(this.value) && this.value >= least) {
      return this.value;
    }
    return this.#wrong(least > 0 ? "a positive whole number" : "a whole number");
  }

  boolean(): boolean {
    return typeof this.value === "boolean" ? this.value : this.#wrong("true or false");
  }

  /** A name or path; cut where it is absurdly long. */
  text(): string {
    return typeof this.value === "string" ? this.value.slice(0, maxText) : this.#wrong("a text");
  }

  longText(): string {
    return typeof this.value === "string" ? this.value : this.#wrong("a text");
  }

  /** `read` where there is something, else undefined. */
  optional<T>(read: (value: Wire) => T): T | undefined {
    return this.absent ? undefined : read(this);
  }

  #wrong(expected: string): never {
    throw new UnexpectedReply(`${this.where} is ${kindOf(this.value)}, not ${expected}`);
  }
}

function kindOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : typeof value === "object" ? "an object" : `a ${typeof value}`;
}
