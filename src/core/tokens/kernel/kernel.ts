import { packedCount, type TokenizerSpec } from "../../model/tokenizerSpec";
import { bpeShape, bpeTokenizer } from "./bpeTokenizer";
import { buildBpeVocabulary, textOf } from "./bpeVocabulary";
import { buildSpmVocabulary, SpmTokenizer, spelledOut } from "./spm";
import { SpecialPartition } from "./specialPartition";
import { effectiveAttributes, isCutOut, isSpecial } from "./specialTokens";
import { TokenSink, type Checkpoint, type TextTokenizer } from "./tokenSink";
import { UgmTokenizer } from "./ugm";
import { isWellFormed, wellFormed } from "./utf8";
import { settingsOf, withoutEmptyTokens, type VocabularySettings } from "./vocabularyDefaults";
import { WhitespaceTokenizer } from "./whitespaceTokenizer";
import { WpmTokenizer } from "./wpm";
import { RwkvTokenizer } from "./rwkv";

export interface TokenizeOptions {
  /** BOS in front and EOS behind, as the model says. */
  readonly addSpecial?: boolean;
  /** Texts of control tokens in the input become those tokens (llama-server does this to prompts). */
  readonly parseSpecial?: boolean;
  /** Called every few milliseconds; throws to stop. */
  readonly checkpoint?: Checkpoint;
}

/** One model's tokenizer. Counts and ids equal llama.cpp's for the same bytes. */
export interface Kernel {
  readonly settings: VocabularySettings;
  readonly tokens: number;
  /** A string counts as what is sent: UTF-8 with U+FFFD for lone surrogates. */
  encode(text: string | Uint8Array, options?: TokenizeOptions): Int32Array;
  count(text: string | Uint8Array, options?: TokenizeOptions): number;
}

/** @throws UserError for a tokenizer that is not known or a vocabulary that is broken. */
export function createTokenizerFrom(given: TokenizerSpec): Kernel {
  const spec = { ...given, tokens: withoutEmptyTokens(given.tokens) };
  const settings = settingsOf(spec);
  const attributes = effectiveAttributes(spec, textFinder(spec));
  return new VocabularyKernel(spec, settings, attributes);
}

/** Finds token ids by text; only texts that look special are ever asked for. */
function textFinder(spec: TokenizerSpec): (text: string) => number | undefined {
  const { tokens } = spec;
  const ids = new Map<string, number>();
  for (let id = 0; id < packedCount(tokens); id++) {
    const start = tokens.starts[id] as number;
    const end = tokens.ends[id] as number;
    const first = tokens.bytes[start];
    const looksSpecial = first === 0x3c || first === 0x5b || first === 0x5f || first === 0xe2;
    if (looksSpecial && end - start < 40) ids.set(textOf(tokens.bytes, start, end), id);
  }
  const encoder = new TextEncoder();
  return (text) => {
    const bytes = encoder.encode(text);
    return ids.get(textOf(bytes, 0, bytes.length));
  };
}

type Tokenizers = { readonly wellFormed: TextTokenizer; readonly broken: () => TextTokenizer };

const noCheck: Checkpoint = () => undefined;

class VocabularyKernel implements Kernel {
  readonly tokens: number;
  private readonly tokenizers: Tokenizers;
  private readonly parsing: SpecialPartition;
  private readonly literal: SpecialPartition;
  private readonly encoder = new TextEncoder();
  private buffer = new Uint8Array(1 << 16);

  constructor(
    spec: TokenizerSpec,
    readonly settings: VocabularySettings,
    attributes: Uint8Array,
  ) {
    this.tokens = packedCount(spec.tokens);
    this.tokenizers = tokenizersOf(spec, settings, attributes);
    const cutOut = Array.from(attributes.keys()).filter((id) => isCutOut(attributes[id] as number));
    this.parsing = new SpecialPartition(spec.tokens, cutOut, attributes);
    const userDefined = cutOut.filter((id) => !isSpecial(attributes[id] as number));
    this.literal = new SpecialPartition(spec.tokens, userDefined, attributes);
  }

  encode(text: string | Uint8Array, options: TokenizeOptions = {}): Int32Array {
    const sink = new TokenSink();
    const check = options.checkpoint ?? noCheck;
    if (options.addSpecial) for (const id of this.before()) sink.push(id);
    this.parts(text, options, {
      token: (id) => sink.push(id),
      text: (tokenizer, bytes, start, end, after) => tokenizer.encode(bytes, start, end, after, sink, check),
    });
    if (options.addSpecial) for (const id of this.after()) sink.push(id);
    return sink.take();
  }

  count(text: string | Uint8Array, options: TokenizeOptions = {}): number {
    const check = options.checkpoint ?? noCheck;
    let tokens = options.addSpecial ? this.before().length + this.after().length : 0;
    this.parts(text, options, {
      token: () => tokens++,
      text: (tokenizer, bytes, start, end, after) => {
        tokens += tokenizer.count(bytes, start, end, after, check);
      },
    });
    return tokens;
  }

  private parts(text: string | Uint8Array, options: TokenizeOptions, to: PartReceiver): void {
    const bytes = typeof text === "string" ? this.encoded(text) : text;
    const sound = typeof text === "string" || isWellFormed(bytes, 0, bytes.length);
    const tokenizer = sound ? this.tokenizers.wellFormed : this.tokenizers.broken();
    const partition = options.parseSpecial ? this.parsing : this.literal;
    let after = true;
    partition.cut(bytes, 0, bytes.length, (token, start, end) => {
      if (token >= 0) to.token(token);
      else to.text(tokenizer, bytes, start, end, after);
      after = token >= 0;
    });
  }

  private encoded(text: string): Uint8Array {
    if (this.buffer.length < text.length * 3) this.buffer = new Uint8Array(text.length * 3);
    const { written } = this.encoder.encodeInto(text, this.buffer);
    return this.buffer.subarray(0, written);
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

interface PartReceiver {
  token(id: number): void;
  text(tokenizer: TextTokenizer, bytes: Uint8Array, start: number, end: number, after: boolean): void;
}

function tokenizersOf(spec: TokenizerSpec, settings: VocabularySettings, attributes: Uint8Array): Tokenizers {
  const { unknown, addSpacePrefix, removeExtraWhitespaces } = settings;
  switch (settings.kind) {
    case "bpe": {
      const { pre } = settings;
      if (!pre) throw new Error("byte-pair vocabularies have a pre-tokenizer");
      const bpe = bpeTokenizer(buildBpeVocabulary(spec, bpeShape(pre)), pre);
      const sound = settings.dropsWhitespace ? new WhitespaceTokenizer(bpe, settings.lowercase) : bpe;
      return { wellFormed: sound, broken: () => repairing(sound) };
    }
    case "spm": {
      const vocabulary = buildSpmVocabulary(spec);
      const sound = new SpmTokenizer(vocabulary, addSpacePrefix);
      let spelled: SpmTokenizer | undefined;
      return {
        wellFormed: sound,
        broken: () => (spelled ??= new SpmTokenizer(spelledOut(vocabulary), addSpacePrefix, true)),
      };
    }
    case "wpm": {
      const sound = new WpmTokenizer(spec, { ...settings, unknown });
      return { wellFormed: sound, broken: () => repairing(sound) };
    }
    case "ugm": {
      const ugm = new UgmTokenizer(spec, { addSpacePrefix, removeExtraWhitespaces, unknown, attributes });
      return { wellFormed: ugm, broken: () => ugm };
    }
    case "rwkv": {
      const rwkv = new RwkvTokenizer(spec, unknown);
      return { wellFormed: rwkv, broken: () => rwkv };
    }
  }
}

/** Makes each part well-formed as llama.cpp does before it splits it. */
function repairing(inner: TextTokenizer): TextTokenizer {
  return {
    count(bytes, start, end, after, check) {
      const sound = wellFormed(bytes, start, end);
      return inner.count(sound, 0, sound.length, after, check);
    },
    encode(bytes, start, end, after, sink, check) {
      const sound = wellFormed(bytes, start, end);
      inner.encode(sound, 0, sound.length, after, sink, check);
    },
  };
}
