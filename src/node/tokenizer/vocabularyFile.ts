import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { PackedStrings, SpecialTokenIds, TokenizerSpec } from "../../core/model/tokenizerSpec";
import { bytes as byteSize, say } from "../../core/text";
import { broken } from "../../core/tokens/kernel/brokenVocabulary";
import { UserError } from "../../core/userError";
import { openFlags } from "../reading/regularFile";

/** No model's key-value part comes near; what does is not worth reading. */
const maxHeaderBytes = 512 * 2 ** 20;
const firstRead = 16 * 2 ** 20;
const maxKeys = 1 << 16;
const maxKeyBytes = 1 << 16;
const maxStrings = 1 << 23;

const isString = 8;
const isArray = 9;
/** Bytes of a GGUF value by type number; 0 where the size is in the value. */
const sizes: readonly number[] = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];

/**
 * Reads what a GGUF says about its tokenizer and nothing behind it. Synchronous: call it off the main thread.
 * A reader of our own because @huggingface/gguf makes a JavaScript string of every token and merge (over a second and
 * hundreds of megabytes for 150 000 tokens); this one leaves them where they are in one buffer.
 * @throws UserError when the file is no GGUF, is cut off or cannot be what it says.
 */
export function readVocabulary(path: string): TokenizerSpec {
  const file = open(path);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw notGguf();
    return readSpec(new Cursor(file, stats.size));
  } finally {
    closeSync(file);
  }
}

function open(path: string): number {
  try {
    return openSync(path, openFlags);
  } catch (cause) {
    throw new UserError("notFound", say`The model file ${path} cannot be opened.`, say`Check the path.`, {
      cause,
    });
  }
}

function readSpec(cursor: Cursor): TokenizerSpec {
  if (cursor.u32() !== 0x46554747) throw notGguf();
  const version = cursor.u32();
  if (version !== 2 && version !== 3) {
    throw new UserError(
      "unsupported",
      say`This GGUF file has an unsupported format version or byte order.`,
      say`Convert the model again with a current llama.cpp.`,
    );
  }
  cursor.length();
  const keys = cursor.length();
  if (keys > maxKeys) throw brokenFile();
  const draft: Draft = { ids: {}, oldIds: {} };
  for (let i = 0; i < keys; i++) {
    const key = cursor.text(maxKeyBytes);
    const type = cursor.u32();
    const take = Object.hasOwn(wanted, key) ? wanted[key] : undefined;
    if (take) take(draft, new Value(cursor, type, key));
    else cursor.skip(type, 0);
  }
  const { model, tokens, oldIds, ...rest } = draft;
  if (model === undefined || !tokens) {
    throw new UserError(
      "invalidInput",
      say`This GGUF file has no vocabulary.`,
      say`Choose the file of a whole model; of a split model the first part.`,
    );
  }
  const { bytes } = cursor;
  return {
    architecture: "",
    name: "",
    ...rest,
    ids: { ...rest.ids, ...existing(oldIds, tokens.starts.length) },
    model,
    tokens: { ...tokens, bytes },
    ...(draft.merges ? { merges: { ...draft.merges, bytes } } : {}),
  };
}

/** llama.cpp lets an old name have the last word, where its token is there. */
const existing = (ids: SpecialTokenIds, tokens: number): SpecialTokenIds =>
  Object.fromEntries(Object.entries(ids).filter(([, id]: [string, number]) => id < tokens));

type Draft = { -readonly [K in Exclude<keyof TokenizerSpec, "ids">]?: TokenizerSpec[K] } & {
  ids: { -readonly [K in keyof SpecialTokenIds]: SpecialTokenIds[K] };
  oldIds: { -readonly [K in keyof SpecialTokenIds]: SpecialTokenIds[K] };
};

type Take = (draft: Draft, value: Value) => void;

const id =
  (name: keyof SpecialTokenIds): Take =>
  (draft, value) => {
    draft.ids[name] = value.unsigned();
  };

/** By a name of earlier times. */
const oldId =
  (name: keyof SpecialTokenIds): Take =>
  (draft, value) => {
    draft.oldIds[name] = value.unsigned();
  };

const wanted: Readonly<Record<string, Take>> = {
  "general.architecture": (draft, value) => (draft.architecture = value.text()),
  "general.name": (draft, value) => (draft.name = value.text()),
  "tokenizer.ggml.model": (draft, value) => (draft.model = value.text()),
  "tokenizer.ggml.pre": (draft, value) => (draft.pre = value.text()),
  "tokenizer.ggml.tokens": (draft, value) => (draft.tokens = value.strings()),
  "tokenizer.ggml.merges": (draft, value) => (draft.merges = value.strings()),
  "tokenizer.ggml.token_type": (draft, value) => (draft.tokenTypes = value.integers()),
  "tokenizer.ggml.scores": (draft, value) => (draft.scores = value.numbers()),
  "tokenizer.ggml.precompiled_charsmap": (draft, value) => (draft.precompiledCharsmap = value.octets()),
  "tokenizer.ggml.bos_token_id": id("bos"),
  "tokenizer.ggml.eos_token_id": id("eos"),
  "tokenizer.ggml.eot_token_id": id("eot"),
  "tokenizer.ggml.eom_token_id": id("eom"),
  "tokenizer.ggml.unknown_token_id": id("unknown"),
  "tokenizer.ggml.seperator_token_id": id("separator"),
  "tokenizer.ggml.padding_token_id": id("padding"),
  "tokenizer.ggml.mask_token_id": id("mask"),
  "tokenizer.ggml.fim_pre_token_id": id("fimPrefix"),
  "tokenizer.ggml.fim_suf_token_id": id("fimSuffix"),
  "tokenizer.ggml.fim_mid_token_id": id("fimMiddle"),
  "tokenizer.ggml.fim_pad_token_id": id("fimPad"),
  "tokenizer.ggml.fim_rep_token_id": id("fimRepository"),
  "tokenizer.ggml.fim_sep_token_id": id("fimSeparator"),
  "tokenizer.ggml.prefix_token_id": oldId("fimPrefix"),
  "tokenizer.ggml.suffix_token_id": oldId("fimSuffix"),
  "tokenizer.ggml.middle_token_id": oldId("fimMiddle"),
  "tokenizer.ggml.add_bos_token": (draft, value) => (draft.addBos = value.flag()),
  "tokenizer.ggml.add_eos_token": (draft, value) => (draft.addEos = value.flag()),
  "tokenizer.ggml.add_sep_token": (draft, value) => (draft.addSeparator = value.flag()),
  "tokenizer.ggml.add_space_prefix": (draft, value) => (draft.addSpacePrefix = value.flag()),
  "tokenizer.ggml.remove_extra_whitespaces": (draft, value) => (draft.removeExtraWhitespaces = value.flag()),
  "tokenizer.ggml.normalizer.lowercase": (draft, value) => (draft.lowercase = value.flag()),
  "tokenizer.ggml.normalizer.strip_accents": (draft, value) => (draft.stripAccents = value.flag()),
};

/** A value still to be read; every reader checks the type first and names the key where it is another. */
class Value {
  constructor(
    private readonly cursor: Cursor,
    private readonly type: number,
    private readonly key: string,
  ) {}

  text(): string {
    if (this.type !== isString) throw broken(this.key);
    return this.cursor.text(maxHeaderBytes);
  }

  flag(): boolean {
    if (this.type !== 7) throw broken(this.key);
    return this.cursor.u8() !== 0;
  }

  unsigned(): number {
    const size = sizes[this.type];
    if (size === undefined || size === 0 || this.type === 6 || this.type === 12) throw broken(this.key);
    const value =
      size === 1
        ? this.cursor.u8()
        : size === 2
          ? this.cursor.u16()
          : size === 4
            ? this.cursor.u32()
            : this.cursor.u64();
    return value;
  }

  strings(): PackedStrings {
    const count = this.array(isString);
    if (count > maxStrings) throw broken(this.key);
    const starts = new Uint32Array(count);
    const ends = new Uint32Array(count);
    this.cursor.walkStrings(count, starts, ends);
    return { bytes: this.cursor.bytes, starts, ends };
  }

  integers(): Int32Array {
    const count = this.array(5, 4);
    const raw = this.cursor.take(count * 4).slice();
    return new Int32Array(raw.buffer, 0, count);
  }

  numbers(): Float32Array {
    if (this.type !== isArray) throw broken(this.key);
    const element = this.cursor.u32();
    const count = this.cursor.length();
    if (element !== 6 && element !== 5) throw broken(this.key);
    const raw = this.cursor.take(count * 4).slice();
    return element === 6
      ? new Float32Array(raw.buffer, 0, count)
      : Float32Array.from(new Int32Array(raw.buffer, 0, count));
  }

  octets(): Uint8Array {
    const count = this.array(0, 1);
    return this.cursor.take(count).slice();
  }

  private array(...elements: readonly number[]): number {
    if (this.type !== isArray || !elements.includes(this.cursor.u32())) throw broken(this.key);
    return this.cursor.length();
  }
}

/** Reads forward through the file; keeps everything read so far in one buffer. */
class Cursor {
  bytes: Uint8Array;
  private view: DataView;
  private loaded = 0;
  private at = 0;

  constructor(
    private readonly file: number,
    private readonly fileBytes: number,
  ) {
    this.bytes = new Uint8Array(Math.min(fileBytes, firstRead));
    this.view = new DataView(this.bytes.buffer);
    this.load();
  }

  u8(): number {
    this.need(1);
    return this.view.getUint8(this.at++);
  }

  u16(): number {
    this.need(2);
    this.at += 2;
    return this.view.getUint16(this.at - 2, true);
  }

  u32(): number {
    this.need(4);
    this.at += 4;
    return this.view.getUint32(this.at - 4, true);
  }

  u64(): number {
    const low = this.u32();
    return low + this.u32() * 2 ** 32;
  }

  /** A count or a length: nothing that does not fit into the file. */
  length(): number {
    const value = this.u64();
    if (value > this.fileBytes) throw brokenFile();
    return value;
  }

  text(most: number): string {
    const size = this.length();
    if (size > most) throw brokenFile();
    return new TextDecoder().decode(this.take(size));
  }

  /** The next bytes, without copying. */
  take(size: number): Uint8Array {
    this.need(size);
    this.at += size;
    return this.bytes.subarray(this.at - size, this.at);
  }

  skip(type: number, depth: number): void {
    if (type === isString) {
      this.pass(this.length());
    } else if (type === isArray) {
      if (depth > 3) throw brokenFile();
      const element = this.u32();
      const count = this.length();
      const size = sizes[element];
      if (size === undefined) throw brokenFile();
      if (size > 0) this.pass(count * size);
      else for (let i = 0; i < count; i++) this.skip(element, depth + 1);
    } else {
      const size = sizes[type];
      if (size === undefined) throw brokenFile();
      this.pass(size);
    }
  }

  walkStrings(count: number, starts: Uint32Array, ends: Uint32Array): void {
    for (let i = 0; i < count; i++) {
      if (this.at + 8 > this.loaded) this.need(8);
      const low = this.view.getUint32(this.at, true);
      if (this.view.getUint32(this.at + 4, true) !== 0) throw brokenFile();
      const start = this.at + 8;
      if (start + low > this.loaded) this.need(8 + low);
      starts[i] = start;
      this.at = start + low;
      ends[i] = this.at;
    }
  }

  private pass(size: number): void {
    this.need(size);
    this.at += size;
  }

  private need(size: number): void {
    const end = this.at + size;
    if (end <= this.loaded) return;
    if (end > this.fileBytes) throw brokenFile();
    if (end > maxHeaderBytes) {
      throw new UserError(
        "tooLarge",
        say`The header of this GGUF file is larger than ${byteSize(maxHeaderBytes)}.`,
        say`Download or convert the model again.`,
      );
    }
    const grown = new Uint8Array(Math.min(this.fileBytes, Math.max(end, this.bytes.length * 2)));
    grown.set(this.bytes.subarray(0, this.loaded));
    this.bytes = grown;
    this.view = new DataView(grown.buffer);
    this.load();
    if (end > this.loaded) throw brokenFile();
  }

  private load(): void {
    while (this.loaded < this.bytes.length) {
      const read = readSync(this.file, this.bytes, this.loaded, this.bytes.length - this.loaded, this.loaded);
      if (read === 0) return;
      this.loaded += read;
    }
  }
}

const notGguf = (): UserError =>
  new UserError("invalidInput", say`This file is not a GGUF model.`, say`Choose a file that ends in .gguf.`);

const brokenFile = (): UserError =>
  new UserError(
    "invalidInput",
    say`This GGUF file is truncated or broken: its header is inconsistent.`,
    say`Download or convert the model again.`,
  );
