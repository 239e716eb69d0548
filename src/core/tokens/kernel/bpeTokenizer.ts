import { BpeMerger } from "./bpe";
import type { BpeShape, BpeVocabulary } from "./bpeVocabulary";
import { beforeLines, betweenJunctions, type LastCut } from "../preTokenizers/cuts";
import { Junctions } from "../preTokenizers/junctions";
import type { PreTokenizer } from "../preTokenizers/preTokenizers";
import { blank, lineFeed, type NextPiece } from "../preTokenizers/scanner";
import type { SplitPieces } from "../preTokenizers/regexSplitter";
import { piecesPerCheck, type TextTokenizer, type TokenWork } from "./tokenSink";
import { blanksForEscapes } from "../preTokenizers/escapes";

export function bpeShape(pre: PreTokenizer): BpeShape {
  const wholeLines = pre.pieces.kind === "lines";
  return { byteLevel: pre.byteLevel, escapeBlanks: wholeLines, wholeLines };
}

export function bpeTokenizer(vocabulary: BpeVocabulary, pre: PreTokenizer): TextTokenizer {
  const merger = new BpeMerger(vocabulary, bpeShape(pre), pre.ignoreMerges);
  const { pieces } = pre;
  switch (pieces.kind) {
    case "scan":
      return new ScanningTokenizer(merger, pieces.next, pre.lastCut);
    case "split":
      return new SplittingTokenizer(merger, pieces.split, pre.lastCut);
    case "lines":
      return new LineTokenizer(merger, new Junctions(vocabulary.junctions), pieces);
  }
}

class ScanningTokenizer implements TextTokenizer {
  constructor(
    private readonly merger: BpeMerger,
    private readonly next: NextPiece,
    readonly lastCut: LastCut,
  ) {}

  tokenize(bytes: Uint8Array, start: number, end: number, _after: boolean, work: TokenWork): number {
    const { check, sink } = work;
    const { merger, next } = this;
    let tokens = 0;
    let pieces = 0;
    for (let at = start; at < end;) {
      const stop = next(bytes, at, end);
      tokens += merger.tokenize(bytes, at, stop, check, sink);
      at = stop;
      if (++pieces % piecesPerCheck === 0) check();
    }
    return tokens;
  }
}

/** Patterns run over text of this size at a time where it can be cut. */
const splitBytes = 1 << 16;

class SplittingTokenizer implements TextTokenizer {
  constructor(
    private readonly merger: BpeMerger,
    private readonly split: SplitPieces,
    readonly lastCut: LastCut,
  ) {}

  tokenize(bytes: Uint8Array, start: number, end: number, _after: boolean, work: TokenWork): number {
    const { check, sink } = work;
    let tokens = 0;
    for (let from = start; from < end;) {
      check();
      let to = end;
      for (let size = splitBytes; from + size < end && to === end; size *= 2) {
        const cut = this.lastCut(bytes, from, from + size);
        if (cut > 0) to = cut;
      }
      let at = from;
      for (const stop of this.split(bytes, from, to)) {
        tokens += this.merger.tokenize(bytes, at, stop, check, sink);
        at = stop;
      }
      from = to;
    }
    return tokens;
  }
}

interface LineRules {
  readonly wordsAtBlanks: boolean;
  /** A run of line feeds that is a token is taken whole. */
  readonly newlineWords: boolean;
}

/** Merging over whole lines, cut where no merge can reach across so that the parts repeat. */
class LineTokenizer implements TextTokenizer {
  readonly lastCut: LastCut;

  constructor(
    private readonly merger: BpeMerger,
    private readonly junctions: Junctions,
    private readonly rules: LineRules,
  ) {
    this.lastCut = rules.wordsAtBlanks ? beforeLines : betweenJunctions(junctions);
  }

  tokenize(bytes: Uint8Array, start: number, end: number, _after: boolean, work: TokenWork): number {
    const { check, sink } = work;
    const escaped = blanksForEscapes(bytes, start, end, 0);
    const text = this.rules.wordsAtBlanks ? withLeadingBlanks(escaped) : escaped;
    let tokens = 0;
    for (let at = text.start, pieces = 1; at < text.end; pieces++) {
      if (pieces % piecesPerCheck === 0) check();
      const isBreak = text.bytes[at] === lineFeed;
      const stop = isBreak ? lineFeeds(text.bytes, at, text.end) : this.partOfLine(text.bytes, at, text.end);
      const whole = isBreak && this.rules.newlineWords ? this.merger.tokenOf(text.bytes, at, stop) : -1;
      if (whole >= 0) {
        sink?.push(whole);
        tokens++;
      } else {
        tokens += this.merger.tokenize(text.bytes, at, stop, check, sink);
      }
      at = stop;
    }
    return tokens;
  }

  private partOfLine(bytes: Uint8Array, from: number, end: number): number {
    const line = bytes.indexOf(lineFeed, from);
    let stop = line < 0 || line > end ? end : line;
    if (this.rules.wordsAtBlanks) {
      const word = bytes.indexOf(blank, from + 1);
      if (word >= 0 && word < stop) stop = word;
    }
    return this.junctions.next(bytes, from, stop);
  }
}

function lineFeeds(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at] === lineFeed) at++;
  return at;
}

interface Text {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** Every line starts with a blank (mmBERT). */
function withLeadingBlanks(text: Text): Text {
  const out = new Uint8Array((text.end - text.start) * 2);
  let written = 0;
  for (let at = text.start; at < text.end; at++) {
    const byte = text.bytes[at] as number;
    const starts = at === text.start || text.bytes[at - 1] === lineFeed;
    if (starts && byte !== lineFeed && byte !== blank) out[written++] = blank;
    out[written++] = byte;
  }
  return { bytes: out, start: 0, end: written };
}
