import type { TextDocuments } from "vscode-languageserver/node";
import type { TextDocument } from "vscode-languageserver-textdocument";
import type { Finding } from "../core/preset/finding";
import { lintPreset } from "../core/preset/lintPreset";
import { readPreset, type Preset, type PresetModel } from "../core/preset/presetModels";
import { logLanguage, presetLanguage } from "../core/protocol/serverRequests";
import type { SectionCost } from "../core/preset/sectionCost";
import type { Text } from "../core/text";
import { UserError } from "../core/userError";
import type { FileFacts } from "./fileFacts";
import { logTooLong, maxLogLength, maxPresetLength, presetTooLong } from "./limits";
import { readLog, type ReadLog } from "./logFeatures";

/** Typing goes on for a moment before findings are worth showing. */
const patienceMs = 120;
/** Models of one preset whose memory is computed. */
const maxCosted = 200;

interface Kept<T> {
  readonly version: number;
  /** Absent where the text is too long. */
  readonly value: T | undefined;
}

/** Reads open documents once per version, and reports what is wrong with presets. */
export class DocumentReader {
  private readonly presets = new Map<string, Kept<Preset>>();
  private readonly logs = new Map<string, Kept<ReadLog>>();
  private readonly waiting = new Map<string, NodeJS.Timeout>();
  private readonly latest = new Map<
    string,
    { readonly preset: Preset; readonly findings: readonly Finding[] }
  >();

  constructor(
    private readonly documents: TextDocuments<TextDocument>,
    private readonly files: FileFacts,
    private readonly cost: (uri: string, model: PresetModel) => SectionCost | undefined,
    private readonly report: (uri: string, findings: readonly Finding[]) => void,
    /** What is to be done with documents that are no presets. */
    private readonly checkOther: (document: TextDocument) => void,
    private readonly leaveOut: (uri: string, why: Text) => void,
  ) {
    documents.onDidChangeContent(({ document }) => {
      this.checkSoon(document.uri);
    });
    documents.onDidClose(({ document }) => {
      clearTimeout(this.waiting.get(document.uri));
      for (const map of [this.presets, this.logs, this.waiting, this.latest]) map.delete(document.uri);
    });
  }

  preset(uri: string): Preset | undefined {
    return this.read(uri, presetLanguage, maxPresetLength, this.presets, readPreset);
  }

  log(uri: string): ReadLog | undefined {
    return this.read(uri, logLanguage, maxLogLength, this.logs, readLog);
  }

  checkAll(): void {
    for (const uri of this.documents.keys()) this.checkSoon(uri);
  }

  private checkSoon(uri: string): void {
    clearTimeout(this.waiting.get(uri));
    this.waiting.set(
      uri,
      setTimeout(() => {
        this.waiting.delete(uri);
        this.check(uri);
      }, patienceMs),
    );
  }

  private check(uri: string): void {
    const preset = this.preset(uri);
    const document = this.documents.get(uri);
    if (preset === undefined) {
      if (document?.languageId === presetLanguage) this.leaveOut(uri, presetTooLong);
      else if (document?.languageId === logLanguage && this.log(uri) === undefined)
        this.leaveOut(uri, logTooLong);
      else if (document !== undefined) this.checkOther(document);
      return;
    }
    const findings = this.lint(uri, preset);
    this.latest.set(uri, { preset, findings });
    this.report(uri, findings);
  }

  /** What is wrong with a preset; what was found last, unless it has changed since. */
  findings(uri: string): readonly Finding[] {
    const preset = this.preset(uri);
    if (preset === undefined) return [];
    const known = this.latest.get(uri);
    return known?.preset === preset ? known.findings : this.lint(uri, preset);
  }

  private lint(uri: string, preset: Preset): readonly Finding[] {
    const costed = new Set(preset.models.slice(0, maxCosted));
    return lintPreset(preset, {
      fileExists: (path) => this.files.fileExists(uri, path),
      modelFacts: (options) => this.files.modelFacts(uri, options),
      memory: (model) => (costed.has(model) ? this.cost(uri, model)?.beyond : undefined),
    });
  }

  private read<T>(
    uri: string,
    language: string,
    maxLength: number,
    kept: Map<string, Kept<T>>,
    parse: (text: string) => T,
  ): T | undefined {
    const document = this.documents.get(uri);
    if (document?.languageId !== language) return undefined;
    const known = kept.get(uri);
    if (known?.version === document.version) return known.value;
    const text = document.getText();
    const value = text.length > maxLength ? undefined : parsed(parse, text);
    kept.set(uri, { version: document.version, value });
    return value;
  }
}

function parsed<T>(parse: (text: string) => T, text: string): T | undefined {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}
