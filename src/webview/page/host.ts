import type { FromPanel, ToPanel } from "../../core/protocol/panelMessages";

interface VsCodeApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

/** The page's only way out: messages to the extension and state that outlives the page. */
export class Host {
  private readonly api = acquireVsCodeApi();

  post(message: FromPanel): void {
    this.api.postMessage(message);
  }

  /** Messages come only from the extension: the page has no frames and takes none from elsewhere. */
  onMessage(listener: (message: ToPanel) => void): void {
    window.addEventListener("message", (event: MessageEvent<ToPanel>) => listener(event.data));
  }

  get state(): unknown {
    return this.api.getState();
  }

  set state(value: unknown) {
    this.api.setState(value);
  }
}
