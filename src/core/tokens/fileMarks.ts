import { kindOfName, type FileMark } from "../files/fileKinds";
import {
  deniedByAttributes,
  kindOfAttributes,
  parseAttributes,
  type AttributesFile,
} from "../files/fileKindsAttributes";
import { NearDuplicates, type TextSketch } from "../files/fileKindsDuplicates";
import type { TextLook } from "./textLook";
import type { CountedFile } from "./tokenCount";

/** Their text speaks of other files, so it is read every time. */
export const isAttributesFile = (label: string): boolean => /(^|\/)\.gitattributes$/.test(label);

const filesBetweenPauses = 512;

/** Gathers, while texts pass by, what marks files; keeps at most 256 bytes per file. */
export class FileMarks {
  private readonly attributes: AttributesFile[] = [];
  private readonly byText = new Map<string, FileMark>();
  private readonly sketches = new Map<string, TextSketch>();

  /** A file of git's attributes passes by. */
  attributesOf(label: string, text: string): void {
    this.attributes.push(parseAttributes(text, label));
  }

  add(label: string, { mark, sketch }: TextLook): void {
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
    const said = kindOfAttributes(label, this.attributes);
    if (said !== undefined) return said;
    return [kindOfName(label), this.byText.get(label)].find(
      (mark) => mark !== undefined && !deniedByAttributes(label, mark.kind, this.attributes),
    );
  }

  private duplicate(label: string, duplicates: NearDuplicates): FileMark | undefined {
    const sketch = this.sketches.get(label);
    return sketch === undefined ? undefined : duplicates.add({ label, sketch });
  }
}
