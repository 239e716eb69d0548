import { Uri, window, workspace } from "vscode";
import type { SavedExtension, SavedFile } from "../../core/protocol/savedFiles";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { showBriefly } from "../editor/screen";
import { localized } from "../editor/vscodeText";

const kinds: Record<SavedExtension, string> = { svg: "SVG", png: "PNG", csv: "CSV", md: "Markdown" };

/** Asks for a place and writes the file whose extension the reader chose; the first one where it is none of them. */
export async function saveFile(name: string, files: readonly SavedFile[]): Promise<void> {
  const [first] = files;
  if (first === undefined) return;
  const folder = workspace.workspaceFolders?.[0]?.uri;
  const chosen = await window.showSaveDialog({
    filters: Object.fromEntries(files.map(({ extension }) => [kinds[extension], [extension]])),
    ...(folder !== undefined && { defaultUri: Uri.joinPath(folder, `${name}.${first.extension}`) }),
  });
  if (chosen === undefined) return;
  const { content } =
    files.find(({ extension }) => chosen.path.toLowerCase().endsWith(`.${extension}`)) ?? first;
  try {
    await workspace.fs.writeFile(
      chosen,
      typeof content === "string" ? new TextEncoder().encode(content) : content,
    );
  } catch (cause) {
    throw new UserError(
      "outsideFailed",
      say`${chosen.fsPath} could not be written.`,
      say`Choose a folder that you can write to.`,
      { cause },
    );
  }
  showBriefly(localized(say`Saved ${workspace.asRelativePath(chosen)}`), 5000);
}
