import type { CurvePoint } from "../prefill/depthCurve";

export interface ProgressLine {
  readonly tokens: number;
  /** With the cached ones. */
  readonly whole: boolean;
  /** Since the prompt was begun, to a hundredth. */
  readonly seconds?: number;
  /** The line's stamp. */
  readonly at: number | undefined;
}

/** Spans shorter than this are joined: their ends are known to a hundredth of a second. */
const shortest = 1;

/**
 * The progress lines of a prompt as spans of a depth curve, the last one up to the end that the timings tell. Of a line's
 * time the stamp is taken where there is one, because it tells microseconds.
 */
export function progressSpans(
  lines: readonly ProgressLine[],
  cached: number | undefined,
  whole: { readonly tokens: number; readonly seconds: number } | undefined,
): CurvePoint[] {
  const [first] = lines;
  if (cached === undefined || whole === undefined || first?.seconds === undefined) return [];
  const begun = first.at === undefined ? undefined : first.at - first.seconds;
  const spans: CurvePoint[] = [];
  let from = { tokens: 0, seconds: 0 };
  for (let index = 0; index <= lines.length; index++) {
    const end = endOf(lines[index], begun, cached) ?? (index === lines.length ? whole : undefined);
    if (end === undefined) continue;
    const last = index === lines.length;
    const [tokens, seconds] = [end.tokens - from.tokens, end.seconds - from.seconds];
    if (tokens <= 0 || seconds <= 0) continue;
    const previous = spans.at(-1);
    if (seconds < shortest && !last) continue;
    if (last && previous !== undefined && (seconds < shortest || tokens < 64)) {
      spans[spans.length - 1] = {
        ...previous,
        tokens: previous.tokens + tokens,
        seconds: previous.seconds + seconds,
      };
    } else spans.push({ depth: cached + from.tokens, tokens, seconds });
    from = end;
  }
  return spans;
}

function endOf(
  line: ProgressLine | undefined,
  begun: number | undefined,
  cached: number,
): { readonly tokens: number; readonly seconds: number } | undefined {
  if (line === undefined) return undefined;
  const seconds = begun !== undefined && line.at !== undefined ? line.at - begun : line.seconds;
  return seconds === undefined
    ? undefined
    : { tokens: line.whole ? line.tokens - cached : line.tokens, seconds };
}
