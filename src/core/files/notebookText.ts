export const isNotebook = (label: string): boolean => /\.ipynb$/i.test(label);

/** What stands between the sources of two cells. */
export const cellSeparator = "\n\n";

/**
 * The sources of a Jupyter notebook's cells (nbformat 3 and 4), an empty line between them, without outputs and metadata.
 * Undefined where the text is no notebook.
 */
export function notebookText(json: string): string | undefined {
  let notebook: unknown;
  try {
    notebook = JSON.parse(json);
  } catch {
    return undefined;
  }
  const cells = cellsOf(notebook);
  return cells?.map(sourceOf).join(cellSeparator);
}

function cellsOf(notebook: unknown): readonly unknown[] | undefined {
  if (typeof notebook !== "object" || notebook === null) return undefined;
  if ("cells" in notebook && Array.isArray(notebook.cells)) return notebook.cells as readonly unknown[];
  if (!("worksheets" in notebook) || !Array.isArray(notebook.worksheets)) return undefined;
  return notebook.worksheets.flatMap((sheet: unknown) => cellsOf(sheet) ?? []);
}

function sourceOf(cell: unknown): string {
  if (typeof cell !== "object" || cell === null) return "";
  const source = "source" in cell ? cell.source : "input" in cell ? cell.input : "";
  if (typeof source === "string") return source;
  return Array.isArray(source) ? source.filter((line) => typeof line === "string").join("") : "";
}
