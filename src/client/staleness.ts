import { workspace, type Uri } from "vscode";
import type { Gauge } from "./gauge";
import { DisposableStore, type Disposable } from "./lifecycle";

/** Marks the report stale when the editor changes a file under what was estimated. Costs nothing while nothing happens. */
export function watchForStaleness(gauge: Gauge): Disposable {
  const store = new DisposableStore();
  const touched = (uris: readonly Uri[]): void => {
    const roots = gauge.request?.roots ?? [];
    if (uris.some((uri) => uri.scheme === "file" && roots.some((root) => isUnder(uri.fsPath, root))))
      gauge.markStale();
  };
  store.add(workspace.onDidSaveTextDocument((document) => touched([document.uri])));
  store.add(workspace.onDidCreateFiles(({ files }) => touched(files)));
  store.add(workspace.onDidDeleteFiles(({ files }) => touched(files)));
  store.add(
    workspace.onDidRenameFiles(({ files }) => touched(files.flatMap((file) => [file.oldUri, file.newUri]))),
  );
  return store;
}

function isUnder(path: string, root: string): boolean {
  return (
    path === root ||
    path.startsWith(/[\\/]$/.test(root) ? root : `${root}${path.includes("\\") ? "\\" : "/"}`)
  );
}
