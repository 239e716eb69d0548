import { ConfigurationTarget, workspace, type Uri } from "vscode";
import type { Log } from "../../core/log";
import { DisposableStore, Emitter, type Disposable } from "./lifecycle";
import type { Settings } from "../../app/settings";
import { parseSettings, type SettingKey, type SettingProblem } from "./settings";

/** The settings as one frozen value; nobody else reads VS Code's configuration. */
export class SettingsStore implements Disposable {
  private readonly store = new DisposableStore();
  private readonly changes = this.store.add(new Emitter<Settings>());
  private snapshot: Settings;
  private unusable: readonly SettingProblem[];

  /** Fires when a value of ours, or one we use, is another one. */
  readonly onDidChange = this.changes.event;

  constructor(private readonly log: Log) {
    ({ settings: this.snapshot, problems: this.unusable } = this.read());
    this.store.add(
      workspace.onDidChangeConfiguration((event) => {
        if (!event.affectsConfiguration("llamaGauge") && !event.affectsConfiguration("files.exclude")) return;
        ({ settings: this.snapshot, problems: this.unusable } = this.read());
        this.changes.fire(this.snapshot);
      }),
    );
  }

  get value(): Settings {
    return this.snapshot;
  }

  get problems(): readonly SettingProblem[] {
    return this.unusable;
  }

  /** Writes where the user already has the value, in the user settings otherwise. */
  async update(key: SettingKey, value: unknown, scope?: Uri): Promise<void> {
    const configuration = workspace.getConfiguration("llamaGauge", scope);
    const found = configuration.inspect(key);
    const inWorkspace = found?.workspaceValue !== undefined;
    await configuration.update(
      key,
      value,
      inWorkspace ? ConfigurationTarget.Workspace : ConfigurationTarget.Global,
    );
  }

  dispose(): void {
    this.store.dispose();
  }

  private read(): ReturnType<typeof parseSettings> {
    const configuration = workspace.getConfiguration();
    const parsed = parseSettings((id) => configuration.get(id));
    for (const problem of parsed.problems) {
      this.log.warn(`Setting ${problem.setting} is ${JSON.stringify(problem.value)}; the default is used.`);
    }
    return parsed;
  }
}
