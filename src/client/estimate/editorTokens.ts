import { window, workspace, type TextDocument } from "vscode";
import { countText } from "../../core/tokens/countText";
import { isAbort } from "../editor/cancellation";
import { DisposableStore, Emitter, type Disposable } from "../editor/lifecycle";
import type { Gauge } from "./gauge";
import { inBackground } from "../editor/background";

/** The text in the active editor. */
export interface EditorTokens {
  readonly name: string;
  readonly tokens: number;
}

const pauseMs = 400;
/** Larger texts are not counted at every pause of typing. */
const mostCharacters = 1 << 20;

/** Tokens of the text in the active editor, a moment after it changes, while an exact tokenizer is at hand. */
export class ActiveEditorTokens implements Disposable {
  private readonly store = new DisposableStore();
  private readonly changes = this.store.add(new Emitter<EditorTokens | undefined>());
  private timer: ReturnType<typeof setTimeout> | undefined;
  private counting: AbortController | undefined;
  private current: EditorTokens | undefined;

  readonly onDidChange = this.changes.event;

  /** @param gauge whose report's tokenizer counts */
  constructor(private readonly gauge: Pick<Gauge, "shown">) {
    this.store.add(window.onDidChangeActiveTextEditor(() => this.changed()));
    this.store.add(
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0 && document === window.activeTextEditor?.document) this.changed();
      }),
    );
    this.store.add({
      dispose: () => {
        clearTimeout(this.timer);
        this.counting?.abort();
      },
    });
  }

  get value(): EditorTokens | undefined {
    return this.current;
  }

  /** Also called when another tokenizer may be at hand. */
  changed(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => inBackground(this.count()), pauseMs);
  }

  dispose(): void {
    this.store.dispose();
  }

  private async count(): Promise<void> {
    this.counting?.abort();
    const controller = new AbortController();
    this.counting = controller;
    const document = window.activeTextEditor?.document;
    try {
      const found = document && (await this.tokensOf(document, controller.signal));
      if (controller.signal.aborted) return;
      this.set(found);
    } catch (error) {
      // an answer that does not come (the server has ended) is no news: the next estimate says so
      if (!isAbort(error)) this.set(undefined);
    }
  }

  private async tokensOf(document: TextDocument, signal: AbortSignal): Promise<EditorTokens | undefined> {
    const shown = document.uri.scheme === "file" || document.isUntitled;
    if (!shown) return undefined;
    const text = document.getText();
    if (text.length > mostCharacters) return undefined;
    const tokenizer = this.gauge.shown?.situation.tokenizer;
    const tokens = tokenizer && (await countText(tokenizer, text, signal));
    return tokens === undefined ? undefined : { name: workspace.asRelativePath(document.uri), tokens };
  }

  private set(found: EditorTokens | undefined): void {
    if (found?.name === this.current?.name && found?.tokens === this.current?.tokens) return;
    this.current = found;
    this.changes.fire(found);
  }
}
