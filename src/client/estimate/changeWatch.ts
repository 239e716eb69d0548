import { Uri, workspace, type FileSystemWatcher } from "vscode";
import { reportOf } from "../../core/report/gaugeState";
import { ReportedFiles, type FileChange } from "../../core/report/reportedFiles";
import type { GaugeReport } from "../../core/report/gaugeReport";
import type { Gauge } from "./gauge";
import { DisposableStore, type Disposable } from "../editor/lifecycle";

/**
 * Tells when something behind the report has changed: files on disk, whoever changed them, and texts in editors that are not saved
 * yet. Watches nothing while there is no report; VS Code's own watchers of the workspace are used, none is added for it.
 */
export class ChangeWatch implements Disposable {
  private readonly store = new DisposableStore();
  private watcher: FileSystemWatcher | undefined;
  private known: { readonly tokens: GaugeReport["tokens"]; readonly files: ReportedFiles } | undefined;

  constructor(
    private readonly gauge: Gauge,
    private readonly touched: () => void,
  ) {
    const { store } = this;
    store.add(gauge.onDidChange(() => this.watch()));
    store.add(
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0) this.edited(document.uri);
      }),
    );
    store.add(
      workspace.onDidChangeNotebookDocument(({ notebook, contentChanges, cellChanges }) => {
        const content = contentChanges.length > 0 || cellChanges.some((cell) => cell.document !== undefined);
        if (content) this.edited(notebook.uri);
      }),
    );
    store.add(workspace.onDidSaveTextDocument(({ uri }) => this.changed("changed", uri)));
    store.add(workspace.onDidCreateFiles(({ files }) => this.changed("created", ...files)));
    store.add(workspace.onDidDeleteFiles(({ files }) => this.changed("deleted", ...files)));
    store.add(
      workspace.onDidRenameFiles(({ files }) => {
        this.changed("deleted", ...files.map(({ oldUri }) => oldUri));
        this.changed("created", ...files.map(({ newUri }) => newUri));
      }),
    );
    store.add({
      dispose: () => {
        this.watcher?.dispose();
      },
    });
  }

  dispose(): void {
    this.store.dispose();
  }

  private watch(): void {
    const inWorkspace = this.gauge.request?.roots.some((root) => folderOf(root) !== undefined) === true;
    const wanted = inWorkspace && reportOf(this.gauge.state) !== undefined;
    if (!wanted) {
      this.watcher?.dispose();
      this.watcher = undefined;
    } else if (this.watcher === undefined) {
      const watcher = workspace.createFileSystemWatcher("**/*");
      watcher.onDidChange((uri) => this.changed("changed", uri));
      watcher.onDidCreate((uri) => this.changed("created", uri));
      watcher.onDidDelete((uri) => this.changed("deleted", uri));
      this.watcher = watcher;
    }
  }

  private edited(uri: Uri): void {
    if (this.files?.has(uri.fsPath) === true) this.touched();
  }

  private changed(change: FileChange, ...uris: readonly Uri[]): void {
    const { files } = this;
    if (files === undefined) return;
    const onDisk = uris.filter(({ scheme }) => scheme === "file");
    if (onDisk.some(({ fsPath }) => files.concerns(fsPath, change) || this.movesGit(fsPath))) this.touched();
  }

  /** What git is asked about depends on its index and on where the branch stands. */
  private movesGit(path: string): boolean {
    return this.gauge.request?.renew !== undefined && /[\\/]\.git[\\/](index|HEAD)$/.test(path);
  }

  private get files(): ReportedFiles | undefined {
    const report = reportOf(this.gauge.state);
    if (report === undefined) return undefined;
    if (this.known?.tokens !== report.tokens) {
      const roots = this.gauge.request?.roots ?? report.scope.roots;
      this.known = { tokens: report.tokens, files: new ReportedFiles(report, roots) };
    }
    return this.known.files;
  }
}

const folderOf = (root: string): unknown => workspace.getWorkspaceFolder(Uri.file(root));
