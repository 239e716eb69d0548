/** Text tables: Markdown, CSV and SQL INSERTs as records of column name → cell. */
export type TableRow = Readonly<Record<string, string>>;

/** Rows of every Markdown table in a text; the lines outside tables are given back. */
export function markdownTables(text: string): {
  readonly rows: readonly TableRow[];
  readonly rest: readonly string[];
} {
  const rows: TableRow[] = [];
  const rest: string[] = [];
  let header: readonly string[] | undefined;
  for (const line of text.split(/\r?\n/)) {
    const cells = markdownCells(line);
    if (cells === undefined) {
      header = undefined;
      if (line.trim() !== "") rest.push(line);
    } else if (header === undefined) {
      header = cells;
    } else if (!cells.every((cell) => /^:?-+:?$/.test(cell))) {
      rows.push(Object.fromEntries(header.map((name, i) => [name, cells[i] ?? ""])));
    }
  }
  return { rows, rest };
}

function markdownCells(line: string): readonly string[] | undefined {
  const trimmed = line.trim();
  if (!trimmed.startsWith("|") || trimmed.length < 3) return undefined;
  return trimmed
    .replace(/^\|/, "")
    .replace(/\|\\?$/, "")
    .split("|")
    .map((cell) => cell.trim());
}

/** Cells of one CSV line; quotes are doubled inside quoted cells. */
export function csvCells(line: string): readonly string[] {
  const cells: string[] = [];
  let cell = "";
  let quoted = false;
  for (let i = 0; i < line.length; i++) {
    const c = line.charAt(i);
    if (quoted && c === '"' && line.charAt(i + 1) === '"') {
      cell += '"';
      i++;
    } else if (c === '"') {
      quoted = !quoted;
    } else if (c === "," && !quoted) {
      cells.push(cell);
      cell = "";
    } else {
      cell += c;
    }
  }
  return [...cells, cell];
}

/** Columns and values of one `INSERT INTO t (…) VALUES ('…', …);` line. */
export function sqlInsert(line: string): TableRow | undefined {
  const match = /^INSERT INTO \w+ \(([^)]*)\) VALUES \((.*)\);\s*$/.exec(line);
  if (match === null) return undefined;
  const columns = (match[1] ?? "").split(",").map((name) => name.trim());
  const values = Array.from((match[2] ?? "").matchAll(/'((?:[^']|'')*)'/g), (m) =>
    (m[1] ?? "").replaceAll("''", "'"),
  );
  return values.length === columns.length
    ? Object.fromEntries(columns.map((name, i) => [name, values[i] ?? ""]))
    : undefined;
}
