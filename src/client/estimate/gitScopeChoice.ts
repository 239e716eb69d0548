import { Uri, window, workspace, type WorkspaceFolder } from "vscode";
import { say, type Text } from "../../core/text";
import type { GitScope } from "../../core/tokens/gitScope";
import { UserError } from "../../core/userError";
import type { Machine } from "../../app/machine";
import { documentSource } from "./documentSource";
import type { EstimateRequest, Renewed } from "../../app/estimates";
import { pick, type PickItem } from "../editor/screen";
import { localized } from "../editor/vscodeText";

/** What git is asked. */
export type Git = Pick<Machine, "changedFiles" | "changesAsDiff">;

/** The files that changed, whole; or what changed in them, as git prints it. */
export type ChangesAs = "files" | "diff";

const scopes: readonly (readonly [GitScope["kind"], Text, Text])[] = [
  [
    "workingTree",
    say`Working tree`,
    say`everything that differs from the last commit, including untracked files`,
  ],
  ["staged", say`Staged changes`, say`what the next commit would contain`],
  ["branch", say`This branch`, say`everything it adds compared with the main branch`],
];

interface NamedScope {
  readonly kind: GitScope["kind"];
  readonly as: ChangesAs;
}

interface ScopeItem extends PickItem {
  readonly scope?: NamedScope;
}

/** `{"scope": "staged", "as": "diff"}`, as a keybinding may give it; undefined for anything else. */
export function gitScopeOfArgument(argument: unknown): NamedScope | undefined {
  if (typeof argument !== "object" || argument === null || !("scope" in argument)) return undefined;
  const kind = scopes.find(([its]) => its === argument.scope)?.[0];
  const as = "as" in argument && argument.as === "diff" ? "diff" : "files";
  return kind && { kind, as };
}

/** The changes that the user picks; undefined where nothing is picked. */
export async function chooseGitScope(
  git: Git,
  clicked: Uri | undefined,
  named?: NamedScope,
): Promise<EstimateRequest | undefined> {
  if (!workspace.isTrusted) {
    throw new UserError(
      "untrusted",
      say`git is not started in a workspace that is not trusted.`,
      say`Trust the workspace, or estimate its files.`,
    );
  }
  const folder = await chooseFolder(clicked);
  if (folder === undefined) return undefined;
  if (named !== undefined) return requestOf(git, folder.uri.fsPath, named.kind, named.as);
  const items: ScopeItem[] = scopes.flatMap(([kind, name, what]) => [
    {
      label: localized(name),
      description: localized(say`files`),
      detail: localized(what),
      scope: { kind, as: "files" },
    },
    { label: localized(name), description: localized(say`diff`), scope: { kind, as: "diff" } },
  ]);
  const picked = await pick(items, {
    title: localized(say`Changes to estimate`),
    placeHolder: localized(say`Changed files in full, or only the changes as a diff`),
    matchOnDescription: true,
  });
  return picked?.scope && requestOf(git, folder.uri.fsPath, picked.scope.kind, picked.scope.as);
}

/** @param folder in a repository; only changes in it count. */
function requestOf(git: Git, folder: string, kind: GitScope["kind"], as: ChangesAs): EstimateRequest {
  const name = scopes.find(([its]) => its === kind)?.[1] ?? say`${kind}`;
  const label = localized(as === "files" ? say`${name} (git)` : say`${name} (git diff)`);
  const scope: GitScope = { kind };
  return {
    label,
    roots: [folder],
    renew: (signal) =>
      as === "files" ? files(git, folder, scope, signal) : diff(git, folder, scope, signal),
  };
}

async function files(git: Git, folder: string, scope: GitScope, signal: AbortSignal): Promise<Renewed> {
  return { roots: (await git.changedFiles(folder, scope, signal)).files };
}

async function diff(git: Git, folder: string, scope: GitScope, signal: AbortSignal): Promise<Renewed> {
  const text = await git.changesAsDiff(folder, scope, signal);
  const path = Uri.joinPath(Uri.file(folder), "changes.diff").fsPath;
  const texts = text === "" ? [] : [{ path, label: "changes.diff", text }];
  return { roots: [path], source: documentSource(texts, Date.now()) };
}

async function chooseFolder(clicked: Uri | undefined): Promise<WorkspaceFolder | undefined> {
  const folders = (workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");
  const holding = clicked && workspace.getWorkspaceFolder(clicked);
  if (holding !== undefined) return holding;
  if (folders.length > 1) return window.showWorkspaceFolderPick();
  if (folders[0] !== undefined) return folders[0];
  throw new UserError("invalidInput", say`No folder is open.`, say`Open the folder of a git repository.`);
}
