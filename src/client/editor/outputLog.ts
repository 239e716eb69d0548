import { window, type LogOutputChannel } from "vscode";
import type { Log } from "../../core/log";
import { visibleName } from "../../core/visibleName";
import { withoutSecrets } from "../../core/withoutSecrets";
import type { Disposable } from "./lifecycle";

/** The output channel "Llama Gauge", one line for each message; its level is VS Code's (*Developer: Set Log Level*). It never opens itself. */
export class OutputLog implements Log, Disposable {
  private readonly channel: LogOutputChannel = window.createOutputChannel("Llama Gauge", { log: true });

  info(message: string): void {
    this.channel.info(line(message));
  }

  warn(message: string): void {
    this.channel.warn(line(message));
  }

  error(message: string, cause?: unknown): void {
    if (cause === undefined) this.channel.error(line(message));
    else this.channel.error(line(message), indented(cause));
  }

  show(): void {
    this.channel.show();
  }

  dispose(): void {
    this.channel.dispose();
  }
}

/** Its lines, each behind what no entry of the log begins with: words of a server must not pass for an entry. */
function indented(cause: unknown): string {
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  return text
    .split(/\r\n|[\r\n]/)
    .map(line)
    .join("\n    ");
}

const line = (text: string): string => visibleName(withoutSecrets(text));
