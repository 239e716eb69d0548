import type { FileMark } from "../files/fileKinds";
import { kindOfText } from "../files/fileKindsContent";
import { sketchOf, type TextSketch } from "../files/fileKindsDuplicates";
import { longestRun, type LongRun } from "./longRuns";

/** What of a text matters to the marks of its file. */
export interface TextLook {
  readonly mark?: FileMark;
  readonly sketch?: TextSketch;
  /** A run of characters that may crash llama.cpp's tokenizer. */
  readonly longRun?: LongRun;
}

/** @param text well-formed UTF-8 */
export function lookAt(label: string, text: Uint8Array): TextLook {
  const mark = kindOfText(label, text);
  const sketch = sketchOf(text);
  const longRun = longestRun(text);
  return { ...(mark && { mark }), ...(sketch && { sketch }), ...(longRun && { longRun }) };
}
