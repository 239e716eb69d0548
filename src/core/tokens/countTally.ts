import { count, say, type Text } from "../text";
import { FileMarks } from "./fileMarks";
import type { FileSource, FileRef, SkippedFile, TextEncoding, TextForm } from "../files/files";
import type { KeptFile } from "./keptCount";
import { mayCrash, type CountedFile, type TokenCount, type TokenizerIdentity } from "./tokenCount";

export interface CountProgress {
  readonly filesFound: number;
  readonly filesDone: number;
  readonly tokens: number;
}

/** Gathers what is found, counted and left out, in the order of the walk. */
export class CountTally {
  private readonly files = new Map<number, CountedFile>();
  private readonly skips = new Map<number, SkippedFile>();
  private readonly encodings = new Map<TextEncoding, number>();
  private readonly marks = new FileMarks();
  private notebooks = 0;
  private positions = 0;
  private filesFound = 0;
  private filesDone = 0;
  private tokens = 0;

  constructor(
    private readonly tokenizer: TokenizerIdentity,
    private readonly onProgress: (progress: CountProgress) => void,
  ) {}

  next(): number {
    return this.positions++;
  }

  found(): void {
    this.filesFound++;
    if (this.filesFound % 256 === 0) this.report();
  }

  done(): void {
    this.filesDone++;
  }

  skipped(position: number, skipped: SkippedFile): void {
    this.skips.set(position, skipped);
  }

  attributes(label: string, text: string): void {
    this.marks.attributesOf(label, text);
  }

  kept(position: number, file: FileRef, kept: KeptFile): void {
    if (kept.kind === "counted") {
      const { tokens, look } = kept;
      this.note(kept);
      this.marks.add(file.label, look);
      const longRun = mayCrash(this.tokenizer) ? look.longRun : undefined;
      this.files.set(position, { file, tokens, ...(longRun && { longRun }) });
      this.tokens += tokens;
      this.done();
    } else {
      const { reason, detail } = kept;
      const { path, label } = file;
      this.skipped(position, {
        path,
        label,
        reason,
        folder: false,
        ...(detail !== undefined && { detail }),
      });
      this.done();
    }
  }

  private note({
    encoding = "utf8",
    form,
  }: {
    readonly encoding?: TextEncoding;
    readonly form?: TextForm;
  }): void {
    this.encodings.set(encoding, (this.encodings.get(encoding) ?? 0) + 1);
    if (form === "notebook") this.notebooks++;
  }

  report(): void {
    this.onProgress({ filesFound: this.filesFound, filesDone: this.filesDone, tokens: this.tokens });
  }

  async result(
    pause: FileSource["pause"],
  ): Promise<Pick<TokenCount, "tokens" | "files" | "skipped" | "notes">> {
    return {
      tokens: this.tokens,
      files: await this.marks.apply(inOrder(this.files), pause),
      skipped: inOrder(this.skips),
      notes: this.notes(),
    };
  }

  private notes(): Text[] {
    const notes: Text[] = [];
    const replaced = this.encodings.get("replaced") ?? 0;
    if (replaced > 0) {
      notes.push(say`${count(replaced)} file[s] [is|are] not valid UTF-8; invalid bytes count as U+FFFD.`);
    }
    if (this.notebooks > 0) {
      notes.push(say`${count(this.notebooks)} notebook[s] [is|are] counted by their cells, without outputs.`);
    }
    return notes;
  }
}

function inOrder<T>(byPosition: ReadonlyMap<number, T>): T[] {
  return Array.from(byPosition)
    .sort(([a], [b]) => a - b)
    .map(([, value]) => value);
}
