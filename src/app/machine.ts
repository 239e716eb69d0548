import type { LiveMemory } from "../core/memory/devices/liveMemory";
import type { GitChanges, GitScope } from "../core/tokens/gitScope";
import { changedFiles, changesAsDiff } from "../node/files/gitChanges";
import { findModels, type FoundModel } from "../node/gguf/modelFinder";
import { lookAtMemory, watchMemory } from "../node/machine/watchMemory";
import type { AppHost } from "./host";

/** What else is asked of this machine: model files, memory, git. */
export class Machine {
  constructor(private readonly host: Pick<AppHost, "settings">) {}

  async models(signal: AbortSignal): Promise<readonly FoundModel[]> {
    return findModels({ folders: this.host.settings().modelFolders }, signal);
  }

  async changedFiles(folder: string, scope: GitScope, signal: AbortSignal): Promise<GitChanges> {
    return changedFiles(folder, scope, signal);
  }

  async changesAsDiff(folder: string, scope: GitScope, signal: AbortSignal): Promise<string> {
    return changesAsDiff(folder, scope, signal);
  }

  /** One look at the memory in use; `serverUrl`: of the server whose process is looked at. */
  async memory(serverUrl: string | undefined, signal: AbortSignal): Promise<LiveMemory> {
    return lookAtMemory(serverUrl === undefined ? {} : { serverUrl }, signal);
  }

  /** The same again and again, until it is disposed. */
  watchMemory(
    serverUrl: string | undefined,
    show: (memory: LiveMemory) => void,
  ): Promise<{ dispose(): void }> {
    const watch = watchMemory(serverUrl === undefined ? {} : { serverUrl }, show);
    return Promise.resolve({ dispose: () => watch.stop() });
  }
}
