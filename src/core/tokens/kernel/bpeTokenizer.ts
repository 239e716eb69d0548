import { BpeMerger } from "./bpe";
import type { BpeShape, BpeVocabulary } from "./bpeVocabulary";
import { beforeLines, betweenJunctions, type LastCut } from "./cuts";
import { Junctions } from "./junctions";
import type { PreTokenizer } from "./preTokenizers";
import { blank, lineFeed, type NextPiece } from "./scanner";
import type { SplitPieces } from "./regexSplitter";
import { piecesPerCheck, type Checkpoint, type TextTokenizer, type TokenSink } from "./tokenSink";
import { blanksForEscapes } from "./escapes";

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

  count(bytes: Uint8Array, start: number, end: number, _after: boolean, check: Checkpoint): number {
    const { merger, next } = this;
    let tokens = 0;
    let pieces = 0;
    for (let at = start; at < end;) {
      const stop = next(bytes, at, end);
      tokens += merger.count(bytes, at, stop, check);
      at = stop;
      if (++pieces % piecesPerCheck === 0) check();
    }
    return tokens;
  }

  encode(
    bytes: Uint8Array,
    start: number,
    end: number,
    _after: boolean,
    sink: TokenSink,
    check: Checkpoint,
  ): void {
    for (let at = start, pieces = 1; at < end; pieces++) {
      const stop = this.next(bytes, at, end);
      this.merger.encode(bytes, at, stop, sink, check);
      at = stop;
      if (pieces % piecesPerCheck === 0) check();
    }
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

  count(bytes: Uint8Array, start: number, end: number, _after: boolean, check: Checkpoint): number {
    let tokens = 0;
    this.walk(bytes, start, end, check, (from, to) => {
      tokens += this.merger.count(bytes, from, to, check);
    });
    return tokens;
  }

  encode(
    bytes: Uint8Array,
    start: number,
    end: number,
    _after: boolean,
    sink: TokenSink,
    check: Checkpoint,
  ): void {
    this.walk(bytes, start, end, check, (from, to) => {
      this.merger.encode(bytes, from, to, sink, check);
    });
  }

  private walk(
    bytes: Uint8Array,
    start: number,
    end: number,
    check: Checkpoint,
    piece: (from: number, to: number) => void,
  ): void {
    for (let from = start; from < end;) {
      check();
      let to = end;
      for (let size = splitBytes; from + size < end && to === end; size *= 2) {
        const cut = this.lastCut(bytes, from, from + size);
        if (cut > 0) to = cut;
      }
      let at = from;
      for (const stop of this.split(bytes, from, to)) {
        piece(at, stop);
        at = stop;
      }
      from = to;
    }
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

  count(bytes: Uint8Array, start: number, end: number, _after: boolean, check: Checkpoint): number {
    let tokens = 0;
    this.walk(bytes, start, end, check, (text, from, to, whole) => {
      tokens += whole ? 1 : this.merger.count(text, from, to, check);
    });
    return tokens;
  }

  encode(
    bytes: Uint8Array,
    start: number,
    end: number,
    _after: boolean,
    sink: TokenSink,
    check: Checkpoint,
  ): void {
    this.walk(bytes, start, end, check, (text, from, to, whole) => {
      if (whole) sink.push(this.merger.tokenOf(text, from, to));
      else this.merger.encode(text, from, to, sink, check);
    });
  }

  private walk(
    bytes: Uint8Array,
    start: number,
    end: number,
    check: Checkpoint,
    piece: (text: Uint8Array, from: number, to: number, whole: boolean) => void,
  ): void {
    const escaped = blanksForEscapes(bytes, start, end, 0);
    const text = this.rules.wordsAtBlanks ? withLeadingBlanks(escaped) : escaped;
    for (let at = text.start, pieces = 1; at < text.end; pieces++) {
      if (pieces % piecesPerCheck === 0) check();
      const stop =
        text.bytes[at] === lineFeed
          ? lineFeeds(text.bytes, at, text.end)
          : this.partOfLine(text.bytes, at, text.end);
      const whole =
        this.rules.newlineWords &&
        text.bytes[at] === lineFeed &&
        this.merger.tokenOf(text.bytes, at, stop) >= 0;
      piece(text.bytes, at, stop, whole);
      at = stop;
    }
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
