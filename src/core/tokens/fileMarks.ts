import { kindOfName, type FileMark } from "./fileKinds";
import { kindOfAttributes, parseAttributes, type AttributesFile } from "./fileKindsAttributes";
import { kindOfText } from "./fileKindsContent";
import { NearDuplicates, sketchOf, type TextSketch } from "./fileKindsDuplicates";
import type { CountedFile } from "./tokenCount";

/** What of a text matters to the marks. */
export interface TextLook {
  readonly mark?: FileMark;
  readonly sketch?: TextSketch;
}

/** Their text speaks of other files, so it is read every time. */
export const isAttributesFile = (label: string): boolean => /(^|\/)\.gitattributes$/.test(label);

const filesBetweenPauses = 512;

/** Gathers, while texts pass by, what marks files; keeps at most 256 bytes per file. */
export class FileMarks {
  private readonly attributes: AttributesFile[] = [];
  private readonly byText = new Map<string, FileMark>();
  private readonly sketches = new Map<string, TextSketch>();

  look(label: string, text: string): TextLook {
    if (isAttributesFile(label)) this.attributes.push(parseAttributes(text, label));
    const mark = kindOfText(label, text);
    const sketch = sketchOf(text);
    const look = { ...(mark && { mark }), ...(sketch && { sketch }) };
    this.recall(label, look);
    return look;
  }

  /** As `look`, by what an earlier look saw in the same text. */
  recall(label: string, { mark, sketch }: TextLook): void {
    if (mark !== undefined) this.byText.set(label, mark);
    if (sketch !== undefined) this.sketches.set(label, sketch);
  }

  /** The project's own word (.gitattributes) comes first, then the name, then the text; duplicates are of unmarked files. */
  async apply(files: readonly CountedFile[], pause?: () => Promise<void>): Promise<CountedFile[]> {
    const duplicates = new NearDuplicates();
    const marked: CountedFile[] = [];
    for (const counted of files) {
      const { label } = counted.file;
      const mark = this.markOf(label) ?? this.duplicate(label, duplicates);
      marked.push(mark === undefined ? counted : { ...counted, mark });
      if (marked.length % filesBetweenPauses === 0) await pause?.();
    }
    return marked;
  }

  private markOf(label: string): FileMark | undefined {
    return kindOfAttributes(label, this.attributes) ?? kindOfName(label) ?? this.byText.get(label);
  }

  private duplicate(label: string, duplicates: NearDuplicates): FileMark | undefined {
    const sketch = this.sketches.get(label);
    return sketch === undefined ? undefined : duplicates.add({ label, sketch });
  }
}
