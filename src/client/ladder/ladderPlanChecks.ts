import { languages, Range, workspace, type TextDocument } from "vscode";
import type { LaddersInUse } from "./ladderRuns";
import { DisposableStore, type Disposable } from "../editor/lifecycle";
import { together } from "../../core/shown";
import { say } from "../../core/text";
import { errorAt } from "../editor/screen";
import { localized } from "../editor/vscodeText";
import { inBackground } from "../editor/background";

const patience = 300;
const largest = 2 ** 20;

export const isPlan = ({ fileName }: TextDocument): boolean => /\.ladder\.(ya?ml|json)$/i.test(fileName);

/** Marks what is wrong in open ladder plans, by the rules of the run itself. */
export class LadderPlanChecks implements Disposable {
  private readonly store = new DisposableStore();
  private readonly found = this.store.add(languages.createDiagnosticCollection("llamaGauge.ladder"));
  private readonly waiting = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(private readonly checkPlan: LaddersInUse["checkPlan"]) {
    this.store.add(workspace.onDidOpenTextDocument((document) => this.soon(document)));
    this.store.add(workspace.onDidChangeTextDocument(({ document }) => this.soon(document)));
    this.store.add(
      workspace.onDidCloseTextDocument((document) => {
        clearTimeout(this.waiting.get(document.uri.toString()));
        this.found.delete(document.uri);
      }),
    );
    for (const document of workspace.textDocuments) this.soon(document);
  }

  dispose(): void {
    for (const timer of this.waiting.values()) clearTimeout(timer);
    this.store.dispose();
  }

  /** While somebody types, only the last state is looked at. */
  private soon(document: TextDocument): void {
    if (!isPlan(document)) return;
    const key = document.uri.toString();
    clearTimeout(this.waiting.get(key));
    this.waiting.set(
      key,
      setTimeout(() => {
        this.waiting.delete(key);
        inBackground(this.check(document));
      }, patience),
    );
  }

  private async check(document: TextDocument): Promise<void> {
    const { version } = document;
    const text = document.getText();
    const problem = text.length > largest ? undefined : await this.checkPlan(text);
    if (document.isClosed || document.version !== version) return;
    if (problem === undefined) {
      this.found.delete(document.uri);
      return;
    }
    const line = document.lineAt(Math.min(document.lineCount, Math.max(1, problem.line)) - 1);
    const range = new Range(
      line.lineNumber,
      line.firstNonWhitespaceCharacterIndex,
      line.lineNumber,
      line.text.length,
    );
    const message = together(
      [localized(say`${problem.field}: ${problem.problem}`), localized(problem.remedy)],
      " ",
    );
    this.found.set(document.uri, [errorAt(range, message)]);
  }
}
