import { packedCount } from "../../model/tokenizerSpec";
import { broken, endlessVocabulary } from "./brokenVocabulary";
import { ByteTrie } from "./byteTrie";
import type { TokenTables } from "./compiledVocabulary";
import { noCut } from "../preTokenizers/cuts";
import { attribute, storedAttributes } from "./specialTokens";
import type { Checkpoint, TextTokenizer, TokenWork } from "./tokenSink";
import { readCodePoint, utf8Width } from "../unicode/utf8";

export interface UgmRules {
  readonly addSpacePrefix: boolean;
  readonly removeExtraWhitespaces: boolean;
  readonly unknown: number;
}

const blankAsEscape = [0xe2, 0x96, 0x81];
const replacementCharacter = [0xef, 0xbf, 0xbd];
const stepsPerCheck = 1 << 18;
/** Bytes that one of the text becomes at most, besides some; a character of NFKC becomes eleven times as long. */
const longestNormal = 32;

/** Unigram (T5): normalizes by the model's character map, then takes the segmentation with the best sum of scores. */
export class UgmTokenizer implements TextTokenizer {
  readonly lastCut = noCut;
  private readonly tokens = new ByteTrie();
  private readonly userDefined = new ByteTrie();
  private readonly scores: Float64Array;
  private readonly unknownScore: number;
  private readonly charsmap: Charsmap | undefined;
  private text = new Uint8Array(1 << 12);
  private length = 0;

  constructor(
    tables: TokenTables,
    private readonly rules: UgmRules,
  ) {
    const { texts } = tables;
    const count = packedCount(texts);
    // the matchers are made before llama.cpp overrides attributes, the scores after
    const stored = storedAttributes(count, tables.tokenTypes);
    this.scores = new Float64Array(count);
    let lowest = Infinity;
    for (let id = 0; id < count; id++) {
      const score = tables.scores?.[id] ?? 0;
      const start = texts.starts[id] as number;
      const end = texts.ends[id] as number;
      const bits = stored[id] as number;
      // a score that is no number is not the lowest
      if ((bits & attribute.normal) !== 0 && score < lowest) lowest = score;
      if ((bits & (attribute.normal | attribute.userDefined | attribute.unused)) !== 0) {
        this.tokens.insert(texts.bytes, start, end, id);
      }
      const isUserDefined = (bits & attribute.userDefined) !== 0;
      if (isUserDefined) this.userDefined.insert(texts.bytes, start, end, 0);
      const raised = ((tables.attributes[id] as number) & attribute.userDefined) !== 0;
      this.scores[id] = raised ? 0 : score;
    }
    this.unknownScore = Math.fround(Math.fround(lowest) - 10);
    this.charsmap = tables.charsmap ? new Charsmap(tables.charsmap) : undefined;
  }

  tokenize(bytes: Uint8Array, start: number, end: number, _after: boolean, work: TokenWork): number {
    const { check, sink } = work;
    const ids = this.segment(bytes, start, end, check);
    if (sink) for (const id of ids) sink.push(id);
    return ids.length;
  }

  private segment(bytes: Uint8Array, start: number, end: number, check: Checkpoint): number[] {
    this.normalize(bytes, start, end, check);
    const { text, length } = this;
    const { unknown } = this.rules;
    const best = new Float64Array(length + 1).fill(-Number.MAX_VALUE);
    const token = new Int32Array(length + 1).fill(unknown);
    const from = new Int32Array(length + 1);
    best[0] = 0;
    let steps = 0;
    for (let at = 0; at < length;) {
      if (++steps > stepsPerCheck) {
        check(steps);
        steps = 0;
      }
      const width = Math.min(utf8Width(text[at] as number), length - at);
      const soFar = best[at] as number;
      let whole = false;
      let node = this.tokens.child(0, text[at] as number);
      for (let stop = at + 1; stop <= length && node >= 0; stop++) {
        steps++;
        const id = this.tokens.value(node);
        if (id >= 0) {
          if (stop - at === width) whole = true;
          const score = soFar + (this.scores[id] as number);
          if (score > (best[stop] as number)) {
            best[stop] = score;
            token[stop] = id;
            from[stop] = at;
          }
        }
        node = stop < length ? this.tokens.child(node, text[stop] as number) : -1;
      }
      if (!whole) {
        const stop = at + width;
        const score = soFar + this.unknownScore;
        if (score > (best[stop] as number)) {
          best[stop] = score;
          token[stop] = unknown;
          from[stop] = at;
        }
      }
      at += width;
    }
    check(steps);
    return this.backtrack(token, from);
  }

  private backtrack(token: Int32Array, from: Int32Array): number[] {
    const ids: number[] = [];
    if (this.length === 0) return ids;
    let previousUnknown = false;
    for (let at = this.length; ; at = from[at] as number) {
      const id = token[at] as number;
      const isUnknown = id === this.rules.unknown;
      if (!(previousUnknown && isUnknown)) ids.push(id);
      if (from[at] === 0) break;
      previousUnknown = isUnknown;
    }
    return ids.reverse();
  }

  private normalize(bytes: Uint8Array, start: number, end: number, check: Checkpoint): void {
    const { addSpacePrefix, removeExtraWhitespaces } = this.rules;
    this.length = 0;
    let prepended = false;
    let inWord = false;
    const take = (from: Uint8Array | readonly number[], first: number, last: number) => {
      for (let i = first; i < last; i++) {
        const byte = from[i] as number;
        if (byte !== 0x20) {
          if (!inWord) {
            inWord = true;
            if ((addSpacePrefix && !prepended) || removeExtraWhitespaces) {
              this.write(blankAsEscape);
              prepended = true;
            }
          }
          this.write([byte]);
        } else {
          inWord = false;
          if (!removeExtraWhitespaces) this.write(blankAsEscape);
        }
      }
    };
    for (let at = start; at < end;) {
      const literal = this.userDefinedAt(bytes, at, end);
      if (literal > 0) {
        take(bytes, at, at + literal);
        at += literal;
        continue;
      }
      const mapped = this.charsmap?.match(bytes, at, end);
      if (mapped && mapped.walked > stepsPerCheck) check(mapped.walked);
      if (mapped && mapped.consumed > 0) {
        if (this.length + mapped.end - mapped.start > longestNormal * (end - start) + stepsPerCheck) {
          throw endlessVocabulary();
        }
        take(mapped.bytes, mapped.start, mapped.end);
        at += mapped.consumed;
        continue;
      }
      if (readCodePoint(bytes, at, end) < 0) {
        take(replacementCharacter, 0, 3);
        at++;
      } else {
        const width = utf8Width(bytes[at] as number);
        take(bytes, at, at + width);
        at += width;
      }
    }
  }

  /** llama.cpp takes as far as the trie of user-defined tokens goes, whether or not a token ends there. */
  private userDefinedAt(bytes: Uint8Array, start: number, end: number): number {
    let node = 0;
    let at = start;
    for (; at < end; at++) {
      node = this.userDefined.child(node, bytes[at] as number);
      if (node < 0) break;
    }
    return at - start;
  }

  private write(bytes: readonly number[]): void {
    if (this.length + bytes.length > this.text.length) {
      const grown = new Uint8Array(this.text.length * 2);
      grown.set(this.text);
      this.text = grown;
    }
    for (const byte of bytes) this.text[this.length++] = byte;
  }
}

interface MappedPrefix {
  consumed: number;
  /** Bytes that were looked at. */
  walked: number;
  /** Where the replacement is in `bytes`. */
  start: number;
  end: number;
  readonly bytes: Uint8Array;
}

/** SentencePiece's character map: an XOR-compressed double array of prefixes, then the texts that replace them. */
class Charsmap {
  private readonly nodes: DataView;
  private readonly nodeCount: number;
  private readonly replacements: Uint8Array;
  private readonly found: MappedPrefix;

  constructor(map: Uint8Array) {
    if (map.length < 4) throw broken("tokenizer.ggml.precompiled_charsmap");
    const view = new DataView(map.buffer, map.byteOffset, map.byteLength);
    const size = view.getUint32(0, true);
    if (size + 4 >= map.length) throw broken("tokenizer.ggml.precompiled_charsmap");
    this.nodes = new DataView(map.buffer, map.byteOffset + 4, size);
    this.nodeCount = size >>> 2;
    this.replacements = map.subarray(4 + size);
    this.found = { consumed: 0, walked: 0, start: 0, end: 0, bytes: this.replacements };
  }

  /** The longest prefix that is replaced; `consumed` is 0 where none is. */
  match(bytes: Uint8Array, start: number, end: number): MappedPrefix {
    const { found } = this;
    found.consumed = 0;
    let node = this.base(this.node(0));
    let at = start;
    for (; at < end; at++) {
      const byte = bytes[at] as number;
      if (byte === 0) break;
      node ^= byte;
      const unit = this.node(node);
      if ((unit & 0x800000ff) !== byte) break;
      node ^= this.base(unit);
      if (((unit >>> 8) & 1) !== 0) {
        found.consumed = at - start + 1;
        found.start = this.node(node) & 0x7fffffff;
      }
    }
    found.walked = at - start;
    if (found.consumed > 0) found.end = this.endOfReplacement(found.start);
    return found;
  }

  private node(index: number): number {
    if (index >>> 0 >= this.nodeCount) throw broken("tokenizer.ggml.precompiled_charsmap");
    return this.nodes.getUint32((index >>> 0) * 4, true) | 0;
  }

  private base(unit: number): number {
    return (unit >>> 10) << ((unit & 0x200) >>> 6);
  }

  private endOfReplacement(start: number): number {
    const end = this.replacements.indexOf(0, start);
    if (start >= this.replacements.length || end < 0) throw broken("tokenizer.ggml.precompiled_charsmap");
    return end;
  }
}
