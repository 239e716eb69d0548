import { packedCount, type PackedStrings } from "../../model/tokenizerSpec";
import { ByteStrings, hashBytes } from "./byteStrings";
import { ByteTrie } from "./byteTrie";
import { duplicateToken } from "./brokenVocabulary";
import { beforeBlanks } from "../preTokenizers/cuts";
import {
  piecesPerCheck,
  type Checkpoint,
  type TextTokenizer,
  type TokenSink,
  type TokenWork,
} from "./tokenSink";
import {
  isControl,
  mark,
  punctuation,
  space,
  symbol,
  toBase,
  toLower,
  unicodeClasses,
} from "../unicode/unicodeClasses";
import { codePointAt, utf8Width, writeCodePoint } from "../unicode/utf8";

export interface WpmRules {
  readonly lowercase: boolean;
  readonly stripAccents: boolean;
  readonly unknown: number;
}

const stepsPerCheck = 1 << 18;
/** Shorter ones need not be told of. */
const longWord = 1 << 12;
const phantomSpace = [0xe2, 0x96, 0x81];

/** WordPiece (BERT): words at white space and punctuation, each covered from the left by the longest tokens. */
export class WpmTokenizer implements TextTokenizer {
  readonly lastCut = beforeBlanks;
  private readonly trie = new ByteTrie();
  private word = new Uint8Array(256);
  private length = 0;

  constructor(
    tokens: PackedStrings,
    private readonly rules: WpmRules,
  ) {
    const count = packedCount(tokens);
    const strings = new ByteStrings(count, tokens.bytes.length);
    for (let id = 0; id < count; id++) {
      const text = tokens.bytes.subarray(tokens.starts[id], tokens.ends[id]);
      const hash = hashBytes(text, 0, text.length);
      if (strings.findOrAdd(text, 0, text.length, hash) !== id) throw duplicateToken(text);
      this.trie.insert(text, 0, text.length, id);
    }
  }

  tokenize(bytes: Uint8Array, start: number, end: number, _after: boolean, work: TokenWork): number {
    const { check, sink } = work;
    let tokens = 0;
    this.words(bytes, start, end, check, () => (tokens += this.cover(sink, check)));
    return tokens;
  }

  private words(bytes: Uint8Array, start: number, end: number, check: Checkpoint, done: () => void): void {
    const classes = unicodeClasses();
    const { lowercase, stripAccents } = this.rules;
    this.startWord();
    let words = 0;
    const finish = () => {
      if (this.length === phantomSpace.length) return;
      done();
      this.startWord();
      if (++words % piecesPerCheck === 0) check();
    };
    for (let at = start; at < end; at += utf8Width(bytes[at] as number)) {
      const original = codePointAt(bytes, at);
      const code = stripAccents ? toBase(original) : original;
      const kind = classes[code] as number;
      if ((kind & space) !== 0) {
        finish();
        continue;
      }
      if (code === 0 || code === 0xfffd || isControl(code)) continue;
      if (stripAccents && (kind & mark) !== 0) continue;
      const alone = (kind & punctuation) !== 0 || (code < 0x7f && (kind & symbol) !== 0) || isChinese(code);
      if (alone) finish();
      this.append(lowercase ? toLower(code) : code);
      if (alone) finish();
    }
    finish();
  }

  private startWord(): void {
    this.word.set(phantomSpace);
    this.length = phantomSpace.length;
  }

  private append(code: number): void {
    if (this.length + 4 > this.word.length) {
      const grown = new Uint8Array(this.word.length * 2);
      grown.set(this.word);
      this.word = grown;
    }
    this.length = writeCodePoint(this.word, this.length, code);
  }

  /** Tokens of the current word; the unknown token alone where some part is covered by none. */
  private cover(sink: TokenSink | undefined, check: Checkpoint): number {
    const { word, length, trie } = this;
    let steps = 0;
    const before = sink?.length ?? 0;
    let tokens = 0;
    for (let at = 0; at < length;) {
      let stop = at;
      let id = -1;
      for (let node = 0, i = at; i < length; i++) {
        steps++;
        node = trie.child(node, word[i] as number);
        if (node < 0) break;
        const found = trie.value(node);
        if (found < 0) continue;
        id = found;
        stop = i + 1;
      }
      if (steps > stepsPerCheck) {
        check(steps);
        steps = 0;
      }
      if (id < 0) {
        sink?.truncate(before);
        sink?.push(this.rules.unknown);
        return 1;
      }
      sink?.push(id);
      tokens++;
      at = stop;
    }
    if (length > longWord) check(steps);
    return tokens;
  }
}

function isChinese(code: number): boolean {
  return (
    (code >= 0x4e00 && code <= 0x9fff) ||
    (code >= 0x3400 && code <= 0x4dbf) ||
    (code >= 0x20000 && code <= 0x2a6df) ||
    (code >= 0x2a700 && code <= 0x2b73f) ||
    (code >= 0x2b740 && code <= 0x2b81f) ||
    (code >= 0x2b920 && code <= 0x2ceaf) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0x2f800 && code <= 0x2fa1f)
  );
}
