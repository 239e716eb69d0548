import { isAlias, isMap, isScalar, isSeq, type Scalar, type YAMLMap, type YAMLSeq } from "yaml";
import { boundedYaml } from "../boundedYaml";
import type { MappedText } from "./mappedText";
import { type Place } from "./mappedText";
import { scalarText } from "./scalarText";

/** A value with its alias followed. */
export interface YamlValue {
  readonly node: Scalar | YAMLMap | YAMLSeq;
  /** The alias or merge through which a map has it. */
  readonly used?: Place;
}

export interface PlacedMap {
  readonly map: YAMLMap;
  /** Names of the fields it stands under, `[]` for an item of a list. */
  readonly path: readonly string[];
}

const maxDepth = 100;
/** Characters that are read, each time an alias is followed again. */
const maxRead = 2 ** 20;
/** What a text costs besides its characters. */
const textCost = 16;

/** One document of a YAML file with the places of its values; of a broken one, what could be read. */
export class YamlDocument {
  readonly maps: PlacedMap[] = [];
  #left = maxRead;
  readonly #anchors = new Map<string, YamlValue["node"]>();
  readonly #targets = new Map<unknown, YamlValue["node"]>();
  readonly #fields = new Map<YAMLMap, ReadonlyMap<string, YamlValue>>();

  /** @param names of the fields that are asked for. */
  constructor(
    private readonly text: string,
    private readonly offset: number,
    private readonly names: ReadonlySet<string>,
  ) {
    // pretty errors take time with the square of their number, and every scalar is wanted as it is written
    const options = {
      prettyErrors: false,
      schema: "failsafe",
      uniqueKeys: false,
      logLevel: "silent",
    } as const;
    this.#collect(boundedYaml(text, options)?.contents, []);
  }

  /** The fields asked for, own ones before merged ones (`<<`). */
  fields(map: YAMLMap): ReadonlyMap<string, YamlValue> {
    const known = this.#fields.get(map);
    if (known !== undefined) return known;
    const fields = new Map<string, YamlValue>();
    // also where a map is merged into itself
    this.#fields.set(map, fields);
    for (const { key, value } of map.items) {
      const name = nameOf(key);
      const resolved = name !== undefined && this.names.has(name) ? this.value(value) : undefined;
      if (name !== undefined && resolved !== undefined) fields.set(name, resolved);
    }
    for (const { key, value } of map.items) {
      if (nameOf(key) !== "<<") continue;
      const merged = this.value(value)?.node;
      for (const item of isSeq(merged) ? merged.items : [value]) {
        const base = this.value(item)?.node;
        if (!isMap(base)) continue;
        const used = this.#placeOf(item);
        for (const [name, { node }] of this.fields(base)) {
          if (!fields.has(name)) fields.set(name, { node, ...(used && { used }) });
        }
      }
    }
    return fields;
  }

  /** False when aliases or macros have made a short document too long to be read. */
  spend(characters: number): boolean {
    this.#left -= characters;
    return this.#left > 0;
  }

  entries(map: YAMLMap): [string, YamlValue][] {
    if (!this.spend(map.items.length)) return [];
    return map.items.flatMap(({ key, value }): [string, YamlValue][] => {
      const name = nameOf(key);
      const resolved = this.value(value);
      return name === undefined || resolved === undefined ? [] : [[name, resolved]];
    });
  }

  value(node: unknown): YamlValue | undefined {
    if (isAlias(node)) {
      const target = this.#targets.get(node);
      const used = this.#placeOf(node);
      return target && { node: target, ...(used && { used }) };
    }
    return isScalar(node) || isMap(node) || isSeq(node) ? { node } : undefined;
  }

  scalar(node: unknown): MappedText | undefined {
    if (!isScalar(node) || typeof node.value !== "string" || !node.range) return undefined;
    if (!this.spend(node.value.length + textCost)) return undefined;
    if (node.type === "PLAIN" && /^(?:~|null|Null|NULL)?$/.test(node.value)) return undefined;
    const [start, end] = node.range;
    const isBlock = node.type === "BLOCK_FOLDED" || node.type === "BLOCK_LITERAL";
    const header = isBlock ? this.text.indexOf("\n", start) + 1 : start;
    const style =
      node.type === "QUOTE_DOUBLE" ? "double" : node.type === "QUOTE_SINGLE" ? "single" : "verbatim";
    return scalarText(node.value, this.text.slice(header, end), this.offset + header, style);
  }

  /** Anchors hold for the aliases behind them, up to the next of the same name. */
  #collect(node: unknown, path: readonly string[]): void {
    if (path.length > maxDepth) return;
    if (isAlias(node)) {
      const target = this.#anchors.get(node.source);
      if (target !== undefined) this.#targets.set(node, target);
      return;
    }
    if (!isScalar(node) && !isMap(node) && !isSeq(node)) return;
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (isSeq(node)) for (const item of node.items) this.#collect(item, [...path, "[]"]);
    if (!isMap(node)) return;
    this.maps.push({ map: node, path });
    for (const { key, value } of node.items) {
      this.#collect(key, path);
      this.#collect(value, [...path, nameOf(key) ?? ""]);
    }
  }

  #placeOf(node: unknown): Place | undefined {
    const range = isAlias(node) || isMap(node) ? node.range : undefined;
    return range ? { start: this.offset + range[0], end: this.offset + range[1] } : undefined;
  }
}

const nameOf = (key: unknown): string | undefined =>
  isScalar(key) && typeof key.value === "string" ? key.value : undefined;
