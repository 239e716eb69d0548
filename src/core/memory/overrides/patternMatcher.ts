import type { PatternNode } from "./patternSyntax";

const ops = {
  match: 0,
  byte: 1,
  split: 2,
  begin: 3,
  end: 4,
  boundary: 5,
  noBoundary: 6,
  look: 7,
  noLook: 8,
} as const;

/** More than the longest list of layers takes. */
const maxInstructions = 32_768;

/**
 * Whether an expression occurs in a text, in time that grows with the product of both lengths: of each place in the expression
 * and in the text it is known whether it was tried before (RE2's bit-state search), where a search that goes back, such as
 * JavaScript's or libstdc++'s own, tries some of them billions of times.
 */
export class PatternMatcher {
  /** Of each instruction: what it does, what it goes on with, and the other way of a split or a look's inside. */
  private readonly ops: number[] = [];
  private readonly nexts: number[] = [];
  private readonly others: number[] = [];
  private readonly sets: (Uint8Array | undefined)[] = [];
  /** Bytes a match can begin with; undefined: it may be empty. */
  private readonly firsts: Uint8Array | undefined;
  private readonly start: number;
  private visited = new Uint32Array(0);
  private round = 0;
  private readonly looked = new Map<number, boolean>();
  private left = 0;

  private constructor(node: PatternNode) {
    this.start = this.compile(node, this.add(ops.match, 0, 0));
    this.firsts = this.firstBytes();
  }

  /** undefined: it is too large. */
  static of(node: PatternNode): PatternMatcher | undefined {
    return instructionsOf(node) > maxInstructions ? undefined : new PatternMatcher(node);
  }

  /** Places that may be tried in so many searches; what is left is counted down. */
  allow(steps: number): void {
    this.left = steps;
  }

  get stepsLeft(): number {
    return this.left;
  }

  /** Says nothing once no steps are left. */
  occursIn(text: Uint8Array): boolean {
    this.newRound(text.length);
    const { firsts } = this;
    for (let at = 0; at <= text.length; at++) {
      this.left -= 1;
      const byte = text[at];
      if (firsts !== undefined && (byte === undefined || firsts[byte] !== 1)) continue;
      if (this.matchesAt(this.start, text, at)) return true;
    }
    return false;
  }

  private newRound(length: number): void {
    const places = this.ops.length * (length + 1);
    if (this.visited.length < places || this.round >= 2 ** 32 - 1) {
      this.visited = new Uint32Array(Math.max(places, this.visited.length));
      this.round = 0;
    }
    this.round += 1;
    this.looked.clear();
  }

  private matchesAt(start: number, text: Uint8Array, from: number): boolean {
    const width = text.length + 1;
    const open = [start * width + from];
    const { ops: codes, nexts, others, visited } = this;
    const round = this.round;
    for (let place = open.pop(); place !== undefined && this.left > 0; place = open.pop()) {
      this.left -= 1;
      if (visited[place] === round) continue;
      visited[place] = round;
      const at = place % width;
      const instruction = (place - at) / width;
      const next = (nexts[instruction] ?? 0) * width + at;
      switch (codes[instruction]) {
        case ops.match:
          return true;
        case ops.byte:
          if (at < text.length && this.sets[instruction]?.[text[at] ?? 0] === 1) open.push(next + 1);
          break;
        case ops.split:
          open.push((others[instruction] ?? 0) * width + at, next);
          break;
        case ops.begin:
          if (at === 0) open.push(next);
          break;
        case ops.end:
          if (at === text.length) open.push(next);
          break;
        case ops.boundary:
          if (isBoundary(text, at)) open.push(next);
          break;
        case ops.noBoundary:
          if (!isBoundary(text, at)) open.push(next);
          break;
        case ops.look:
        case ops.noLook: {
          const found = this.looks(others[instruction] ?? 0, text, at);
          if (found === (codes[instruction] === ops.look)) open.push(next);
          break;
        }
      }
    }
    return false;
  }

  /** What was tried inside one look says nothing about another, whose places may be the same. */
  private looks(inside: number, text: Uint8Array, at: number): boolean {
    const place = inside * (text.length + 1) + at;
    const before = this.looked.get(place);
    if (before !== undefined) return before;
    const { visited, round } = this;
    this.visited = new Uint32Array(this.ops.length * (text.length + 1));
    this.left -= this.visited.length / 16;
    this.round = 1;
    const found = this.matchesAt(inside, text, at);
    this.visited = visited;
    this.round = round;
    this.looked.set(place, found);
    return found;
  }

  private add(op: number, next: number, other: number, set?: Uint8Array): number {
    this.ops.push(op);
    this.nexts.push(next);
    this.others.push(other);
    this.sets.push(set);
    return this.ops.length - 1;
  }

  /** First instruction of `node`, which goes on with `next`. */
  private compile(node: PatternNode, next: number): number {
    switch (node.kind) {
      case "byte":
        return this.add(ops.byte, next, 0, node.set);
      case "sequence":
        return node.nodes.reduceRight((then, each) => this.compile(each, then), next);
      case "choice":
        return node.nodes
          .map((each) => this.compile(each, next))
          .reduceRight((rest, first) => this.add(ops.split, first, rest));
      case "repeat":
        return this.repeat(node, next);
      case "begin":
        return this.add(ops.begin, next, 0);
      case "end":
        return this.add(ops.end, next, 0);
      case "wordBoundary":
        return this.add(ops.boundary, next, 0);
      case "noWordBoundary":
        return this.add(ops.noBoundary, next, 0);
      case "look": {
        const inside = this.compile(node.node, this.add(ops.match, 0, 0));
        return this.add(node.negated ? ops.noLook : ops.look, next, inside);
      }
    }
  }

  private repeat({ node, min, max }: PatternNode & { kind: "repeat" }, next: number): number {
    let rest = next;
    if (max === Infinity) {
      rest = this.add(ops.split, 0, next);
      this.nexts[rest] = this.compile(node, rest);
    } else {
      for (let more = min; more < max; more++) rest = this.add(ops.split, this.compile(node, rest), next);
    }
    for (let needed = 0; needed < min; needed++) rest = this.compile(node, rest);
    return rest;
  }

  private firstBytes(): Uint8Array | undefined {
    const firsts = new Uint8Array(256);
    const seen = new Set<number>();
    const open = [this.start];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      if (this.ops[at] === ops.match) return undefined;
      const set = this.sets[at];
      if (set !== undefined) set.forEach((flag, byte) => (firsts[byte] ||= flag));
      else open.push(this.nexts[at] ?? 0);
      if (this.ops[at] === ops.split) open.push(this.others[at] ?? 0);
    }
    return firsts;
  }
}

/** At least as many as compiling it makes. */
function instructionsOf(node: PatternNode): number {
  switch (node.kind) {
    case "sequence":
    case "choice":
      return node.nodes.reduce((sum, each) => sum + 1 + instructionsOf(each), 1);
    case "repeat":
      return 1 + (1 + instructionsOf(node.node)) * (node.max === Infinity ? node.min + 1 : node.max);
    case "look":
      return 2 + instructionsOf(node.node);
    default:
      return 1;
  }
}

function isBoundary(text: Uint8Array, at: number): boolean {
  return isWord(text[at - 1]) !== isWord(text[at]);
}

function isWord(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  return (
    (byte >= 48 && byte <= 57) || (byte >= 65 && byte <= 90) || byte === 95 || (byte >= 97 && byte <= 122)
  );
}
