import { endlessVocabulary } from "./brokenVocabulary";
import { bpeTokenizer } from "./bpeTokenizer";
import type { CompiledVocabulary } from "./compiledVocabulary";
import { awayFromBroken } from "../preTokenizers/cuts";
import { RwkvTokenizer } from "./rwkvTokenizer";
import { SpecialPartition, type Part } from "./specialPartition";
import { isSpecial } from "./specialTokens";
import { SpmTokenizer, spelledOut } from "./spm";
import { TextGatherer, type TextPiece } from "./textGatherer";
import { TokenSink, type Checkpoint, type TextTokenizer } from "./tokenSink";
import { UgmTokenizer } from "./ugm";
import { isWellFormed, wellFormed } from "../unicode/utf8";
import { settingsOf, type VocabularySettings } from "./vocabularyDefaults";
import { WhitespaceTokenizer } from "./whitespaceTokenizer";
import { WpmTokenizer } from "./wpm";

export interface TokenizeOptions {
  /** BOS in front and EOS behind, as the model says. */
  readonly addSpecial?: boolean;
  /** Texts of control tokens in the input become those tokens (llama-server does this to prompts). */
  readonly parseSpecial?: boolean;
  /** Bytes that are given are known to be well-formed UTF-8. */
  readonly wellFormed?: boolean;
  /** Called every few milliseconds; throws to stop. */
  readonly checkpoint?: Checkpoint;
}

export interface PiecesOptions extends TokenizeOptions {
  /** Text that is held together at most, where it can be cut. */
  readonly partBytes?: number;
}

/** One model's tokenizer. Counts and ids equal llama.cpp's for the same bytes. */
export interface Kernel {
  readonly settings: VocabularySettings;
  readonly tokens: number;
  /** A string counts as what is sent: UTF-8 with U+FFFD for lone surrogates. */
  encode(text: TextPiece, options?: TokenizeOptions): Int32Array;
  count(text: TextPiece, options?: TokenizeOptions): number;
  /** Tokens of the pieces' concatenation, which is never built. */
  countPieces(pieces: Iterable<TextPiece>, options?: PiecesOptions): number;
}

export const tokenizerOf = (vocabulary: CompiledVocabulary): Kernel => new VocabularyKernel(vocabulary);

/** Steps for any text, and for each byte of it; the most that a real vocabulary took was 35 (blanks, Llama 2). */
const freeSteps = 2 ** 24;
const stepsPerByte = 256;

/** Stops work that takes more steps than the text is worth. */
class StepLimit {
  private left = freeSteps;

  constructor(private readonly checkpoint: Checkpoint | undefined) {}

  allow(bytes: number): void {
    this.left += bytes * stepsPerByte;
  }

  readonly check = (steps = 0): void => {
    this.left -= steps;
    if (this.left < 0) throw endlessVocabulary();
    this.checkpoint?.();
  };
}

const usualPartBytes = 1 << 20;
/** Longer texts are not encoded as a whole. */
const longText = 1 << 22;

class VocabularyKernel implements Kernel {
  readonly settings: VocabularySettings;
  readonly tokens: number;
  private readonly tokenizers: Tokenizers;
  private readonly parsing: SpecialPartition;
  private readonly literal: SpecialPartition;
  private readonly encoder = new TextEncoder();
  private buffer = new Uint8Array(1 << 16);

  constructor(vocabulary: CompiledVocabulary) {
    const { keys, specials } = vocabulary;
    this.tokens = keys.tokens;
    this.settings = settingsOf(keys);
    this.tokenizers = tokenizersOf(vocabulary, this.settings);
    const all = Array.from(specials.ids.keys());
    this.parsing = new SpecialPartition(specials, all);
    const userDefined = all.filter((index) => !isSpecial(specials.attributes[index] as number));
    this.literal = new SpecialPartition(specials, userDefined);
  }

  encode(text: TextPiece, options: TokenizeOptions = {}): Int32Array {
    const sink = new TokenSink();
    const limit = new StepLimit(options.checkpoint);
    const work = { check: limit.check, sink };
    if (options.addSpecial) for (const id of this.before()) sink.push(id);
    this.parts(this.bytesOf(text), options, true, {
      limit,
      token: (id) => sink.push(id),
      text: (tokenizer, bytes, start, end, after) => tokenizer.tokenize(bytes, start, end, after, work),
    });
    if (options.addSpecial) for (const id of this.after()) sink.push(id);
    return sink.take();
  }

  count(text: TextPiece, options: TokenizeOptions = {}): number {
    if (text.length > longText) return this.countPieces([text], options);
    const counter = this.counter(options);
    this.parts(this.bytesOf(text, options.wellFormed), options, true, counter);
    return counter.total();
  }

  countPieces(pieces: Iterable<TextPiece>, options: PiecesOptions = {}): number {
    const counter = this.counter(options);
    const partition = this.partition(options);
    const { lastCut: cutOfSound } = this.tokenizers.wellFormed;
    let after = true;
    const { partBytes = usualPartBytes, wellFormed = false } = options;
    const gatherer = new TextGatherer(partBytes, wellFormed, (bytes, length, sound) => {
      if (partition.eatsBlanks) return -1;
      const lastCut = sound ? cutOfSound : awayFromBroken(cutOfSound);
      // a token's text may go on behind what has been gathered
      for (let to = length - Math.max(1, partition.longest); to > 0;) {
        const cut = lastCut(bytes, 0, to);
        if (cut <= 0 || !partition.crosses(bytes, cut, length, counter.limit.check)) return cut;
        to = cut;
      }
      return -1;
    });
    for (const part of gatherer.parts(pieces)) after = this.parts(part, options, after, counter);
    return counter.total();
  }

  /** Returns whether a text that follows would follow a special token. */
  private parts(bytes: SoundBytes, options: TokenizeOptions, after: boolean, to: PartReceiver): boolean {
    const sound = bytes.sound || isWellFormed(bytes.bytes, 0, bytes.bytes.length);
    const tokenizer = sound ? this.tokenizers.wellFormed : this.tokenizers.broken();
    let follows = after;
    to.limit.allow(bytes.bytes.length);
    const part: Part = (token, start, end) => {
      if (token >= 0) to.token(token);
      else to.text(tokenizer, bytes.bytes, start, end, follows);
      follows = token >= 0;
    };
    this.partition(options).cut(bytes.bytes, 0, bytes.bytes.length, part, to.limit.check);
    return follows;
  }

  private partition(options: TokenizeOptions): SpecialPartition {
    return options.parseSpecial ? this.parsing : this.literal;
  }

  private counter(options: TokenizeOptions): PartReceiver & { total: () => number } {
    const limit = new StepLimit(options.checkpoint);
    const work = { check: limit.check };
    let tokens = options.addSpecial ? this.before().length + this.after().length : 0;
    return {
      limit,
      token: () => tokens++,
      text: (tokenizer, bytes, start, end, after) => {
        tokens += tokenizer.tokenize(bytes, start, end, after, work);
      },
      total: () => tokens,
    };
  }

  private bytesOf(text: TextPiece, wellFormed = false): SoundBytes {
    if (typeof text !== "string") return { bytes: text, sound: wellFormed };
    if (this.buffer.length < text.length * 3) this.buffer = new Uint8Array(text.length * 3);
    const { written } = this.encoder.encodeInto(text, this.buffer);
    return { bytes: this.buffer.subarray(0, written), sound: true };
  }

  private before(): number[] {
    const { kind, addBos, bos } = this.settings;
    if (kind === "rwkv") return [];
    return kind === "wpm" || addBos ? [bos] : [];
  }

  private after(): number[] {
    const { kind, addEos, eos, separator } = this.settings;
    if (kind === "rwkv") return [];
    if (kind === "wpm") return [separator];
    return addEos ? [eos] : [];
  }
}

interface SoundBytes {
  readonly bytes: Uint8Array;
  /** Known to be well-formed UTF-8. */
  readonly sound: boolean;
}

interface PartReceiver {
  readonly limit: StepLimit;
  token(id: number): void;
  text(tokenizer: TextTokenizer, bytes: Uint8Array, start: number, end: number, after: boolean): void;
}

interface Tokenizers {
  readonly wellFormed: TextTokenizer;
  /** For text that is not well-formed UTF-8. */
  readonly broken: () => TextTokenizer;
}

function tokenizersOf({ keys, tables }: CompiledVocabulary, settings: VocabularySettings): Tokenizers {
  if (tables.kind === "bpe") {
    if (!settings.pre) throw new Error("byte-pair vocabularies have a pre-tokenizer");
    const bpe = bpeTokenizer(tables.bpe, settings.pre);
    const sound = settings.dropsWhitespace ? new WhitespaceTokenizer(bpe, settings.lowercase) : bpe;
    return { wellFormed: sound, broken: () => repairing(sound) };
  }
  if (tables.kind === "spm") {
    const { spm } = tables;
    let spelled: SpmTokenizer | undefined;
    return {
      wellFormed: new SpmTokenizer(spm, settings.addSpacePrefix),
      broken: () => (spelled ??= new SpmTokenizer(spelledOut(spm), settings.addSpacePrefix, true)),
    };
  }
  switch (settings.kind) {
    case "wpm": {
      const sound = new WpmTokenizer(tables.tokens.texts, settings);
      return { wellFormed: sound, broken: () => repairing(sound) };
    }
    case "ugm": {
      const ugm = new UgmTokenizer(tables.tokens, settings);
      return { wellFormed: ugm, broken: () => ugm };
    }
    case "rwkv": {
      const rwkv = new RwkvTokenizer(tables.tokens.texts, settings.unknown);
      return { wellFormed: rwkv, broken: () => rwkv };
    }
    default:
      throw new Error(`no tables for ${keys.model}`);
  }
}

/** Makes each part well-formed as llama.cpp does before it splits it. */
function repairing(inner: TextTokenizer): TextTokenizer {
  return {
    lastCut: inner.lastCut,
    tokenize(bytes, start, end, after, work) {
      const sound = wellFormed(bytes, start, end);
      return inner.tokenize(sound, 0, sound.length, after, work);
    },
  };
}
