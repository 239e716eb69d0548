import { workspace } from "vscode";
import type { LiveMemory } from "../../core/memory/devices/liveMemory";
import type { Disposable } from "../editor/lifecycle";
import type { LatestMemory } from "./latestMemory";
import { inBackground } from "../editor/background";

/** Measures while the panel is seen, and never else. */
export class LivePanel implements Disposable {
  private running: { readonly url: string | undefined; readonly watch: Promise<Disposable> } | undefined;

  constructor(
    private readonly memory: Pick<LatestMemory, "watch">,
    private readonly show: (memory: LiveMemory) => void,
  ) {}

  update(seen: boolean, serverUrl: string | undefined): void {
    if (!seen || !workspace.isTrusted) {
      this.dispose();
      return;
    }
    if (this.running !== undefined && this.running.url === serverUrl) return;
    this.dispose();
    const running = {
      url: serverUrl,
      watch: this.memory.watch(serverUrl, (memory) => {
        if (this.running === running) this.show(memory);
      }),
    };
    this.running = running;
    inBackground(running.watch);
  }

  dispose(): void {
    const { running } = this;
    this.running = undefined;
    if (running !== undefined) inBackground(running.watch.then((watch) => watch.dispose()));
  }
}
