import { window, type LogOutputChannel } from "vscode";
import type { Log } from "../../core/log";
import type { Disposable } from "./lifecycle";

/** The output channel "Llama Gauge"; its level is VS Code's (*Developer: Set Log Level*). It never opens itself. */
export class OutputLog implements Log, Disposable {
  private readonly channel: LogOutputChannel = window.createOutputChannel("Llama Gauge", { log: true });

  info(message: string): void {
    this.channel.info(message);
  }

  warn(message: string): void {
    this.channel.warn(message);
  }

  error(message: string, cause?: unknown): void {
    if (cause === undefined) this.channel.error(message);
    else this.channel.error(message, cause instanceof Error ? (cause.stack ?? cause.message) : cause);
  }

  show(): void {
    this.channel.show();
  }

  dispose(): void {
    this.channel.dispose();
  }
}
