import path from "node:path";

export interface WorkbenchOptions {
  /** A folder or a `.code-workspace` file; left out: an empty window. */
  readonly open?: string | undefined;
  readonly files?: readonly string[];
  readonly extensionDevelopmentPaths?: readonly string[];
  readonly extensionTestsPath?: string | undefined;
  readonly disableExtensions?: boolean;
}

/** The address of a window of the web workbench; `payload` has the keys VS Code's own browser tests use. */
export function workbenchUrl(origin: string, options: WorkbenchOptions): string {
  const remote = (file: string): string =>
    `vscode-remote://${new URL(origin).host}${encodeURI(path.resolve(file))}`;
  const payload: [string, string][] = [
    ["skipWelcome", "true"],
    ["skipReleaseNotes", "true"],
  ];
  for (const folder of options.extensionDevelopmentPaths ?? []) {
    payload.push(["extensionDevelopmentPath", remote(folder)]);
  }
  if (options.extensionTestsPath !== undefined) {
    payload.push(["extensionTestsPath", remote(options.extensionTestsPath)]);
  }
  for (const file of options.files ?? []) payload.push(["openFile", remote(file)]);
  if (options.disableExtensions === true) payload.push(["disableExtensions", "true"]);
  const query = new URLSearchParams();
  if (options.open === undefined) query.set("ew", "true");
  else
    query.set(options.open.endsWith(".code-workspace") ? "workspace" : "folder", path.resolve(options.open));
  query.set("payload", JSON.stringify(payload));
  return `${origin}/?${query.toString()}`;
}
