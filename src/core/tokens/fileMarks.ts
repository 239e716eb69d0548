import { kindOfName, type FileMark } from "./fileKinds";
import { kindOfAttributes, parseAttributes, type AttributesFile } from "./fileKindsAttributes";
import { kindOfText } from "./fileKindsContent";
import { nearDuplicates, sketchOf, type TextSketch } from "./fileKindsDuplicates";
import type { CountedFile } from "./tokenCount";

/** Gathers, while texts pass by, what marks files; keeps at most 256 bytes per file. */
export class FileMarks {
  private readonly attributes: AttributesFile[] = [];
  private readonly byText = new Map<string, FileMark>();
  private readonly sketches = new Map<string, TextSketch>();

  look(label: string, text: string): void {
    if (label === ".gitattributes" || label.endsWith("/.gitattributes")) {
      this.attributes.push(parseAttributes(text, label));
    }
    const mark = kindOfText(label, text);
    if (mark !== undefined) this.byText.set(label, mark);
    const sketch = sketchOf(text);
    if (sketch !== undefined) this.sketches.set(label, sketch);
  }

  /** The project's own word (.gitattributes) comes first, then the name, then the text; duplicates are of unmarked files. */
  apply(files: readonly CountedFile[]): CountedFile[] {
    const marked = files.map((counted): CountedFile => {
      const { label } = counted.file;
      const mark = kindOfAttributes(label, this.attributes) ?? kindOfName(label) ?? this.byText.get(label);
      return mark === undefined ? counted : { ...counted, mark };
    });
    const duplicates = nearDuplicates(
      marked.flatMap(({ file: { label }, mark }) =>
        mark === undefined ? [{ label, sketch: this.sketches.get(label) }] : [],
      ),
    );
    return marked.map((counted) => {
      const mark = duplicates.get(counted.file.label);
      return mark === undefined ? counted : { ...counted, mark };
    });
  }
}
