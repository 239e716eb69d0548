import { packedAt, packedCount, type PackedStrings } from "../../model/tokenizerSpec";
import { ByteTrie } from "./byteTrie";
import { noCut } from "../preTokenizers/cuts";
import type { TextTokenizer, TokenWork } from "./tokenSink";

const stepsPerCheck = 1 << 18;

/** RWKV: always the longest token that fits, byte by byte. */
export class RwkvTokenizer implements TextTokenizer {
  readonly lastCut = noCut;
  private readonly trie = new ByteTrie();

  constructor(
    tokens: PackedStrings,
    private readonly unknown: number,
  ) {
    for (let id = 0; id < packedCount(tokens); id++) {
      const text = unescape(packedAt(tokens, id));
      this.trie.insert(text, 0, text.length, id);
    }
  }

  tokenize(bytes: Uint8Array, start: number, end: number, _after: boolean, work: TokenWork): number {
    const { check, sink } = work;
    let tokens = 0;
    let steps = 0;
    for (let at = start; at < end;) {
      tokens++;
      if (++steps > stepsPerCheck) {
        check(steps);
        steps = 0;
      }
      let stop = at + 1;
      let id = this.unknown;
      let node = this.trie.child(0, bytes[at] as number);
      for (let i = at + 1; node >= 0; i++) {
        steps++;
        if (this.trie.value(node) >= 0) {
          id = this.trie.value(node);
          stop = i;
        }
        node = i < end ? this.trie.child(node, bytes[i] as number) : -1;
      }
      sink?.push(id);
      at = stop;
    }
    check(steps);
    return tokens;
  }
}

/** Vocabulary texts are escaped: \t \n \r \xHH, and a backslash before anything else stands for that. */
function unescape(text: Uint8Array): Uint8Array {
  const out: number[] = [];
  for (let i = 0; i < text.length; i++) {
    if (text[i] !== 0x5c || i + 1 >= text.length) {
      if (text[i] !== 0x5c) out.push(text[i] as number);
      continue;
    }
    const next = text[++i] as number;
    if (next === 0x74) out.push(0x09);
    else if (next === 0x6e) out.push(0x0a);
    else if (next === 0x72) out.push(0x0d);
    else if (next === 0x78 && i + 2 < text.length) {
      out.push(((hex(text[i + 1] as number) << 4) + hex(text[i + 2] as number)) & 0xff);
      i += 2;
    } else out.push(next);
  }
  return Uint8Array.from(out);
}

const hex = (digit: number): number => (digit >= 0x61 ? digit - 0x61 + 10 : digit - 0x30);
