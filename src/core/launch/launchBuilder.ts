import { append } from "../lists";
import type { LaunchOptions, OptionOrigin } from "./launchOptions";
import { addingFields } from "./optionEffects";
import type { ServerOption } from "./serverOptions";

/** An option as it was given. `value` is empty for switches and `secretMask` for secrets. */
export interface GivenOption {
  readonly option: ServerOption;
  readonly value: string;
  /** false: a negative form. */
  readonly on: boolean;
  readonly origin: OptionOrigin;
  /** Index into the arguments, where it came from there. */
  readonly argument?: number;
}

/** Stands for a key or token wherever options are kept, shown or copied. */
export const secretMask = "•••";

type Field = keyof LaunchOptions;

/** Collects options in the order they count and keeps where each launch option came from. */
export class LaunchBuilder {
  private options: LaunchOptions = {};
  private readonly origins = new Map<Field, OptionOrigin>();
  /** Of fields that several options add to; longer lists are made in place. */
  private readonly lists = new Map<Field, unknown[]>();
  private readonly given: GivenOption[] = [];

  add(option: ServerOption, value: string, on: boolean, origin: OptionOrigin, argument?: number): void {
    this.given.push({
      option,
      value: option.secret ? secretMask : value,
      on,
      origin,
      ...(argument === undefined ? {} : { argument }),
    });
    const said = option.effect?.(value, on) ?? {};
    for (const field of Object.keys(said) as Field[]) {
      const earlier = this.origins.get(field);
      const adds = addingFields.has(field) && earlier?.kind === origin.kind;
      if (!adds) this.lists.delete(field);
      this.options = { ...this.options, [field]: adds ? this.joined(field, said) : said[field] };
      this.origins.set(field, origin);
    }
  }

  private joined(field: Field, said: LaunchOptions): unknown {
    const [before, more] = [this.options[field], said[field]];
    if (!Array.isArray(before) || !Array.isArray(more)) return more;
    const list: unknown[] = this.lists.get(field) ?? Array.from<unknown>(before);
    this.lists.set(field, list);
    append(list, more);
    return list;
  }

  result(): {
    readonly options: LaunchOptions;
    readonly origins: ReadonlyMap<Field, OptionOrigin>;
    readonly given: readonly GivenOption[];
  } {
    return { options: this.options, origins: this.origins, given: this.given };
  }
}
