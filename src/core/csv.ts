/**
 * Comma-separated values as in RFC 4180, for spreadsheets: numbers are bare, and no text is taken for a formula. The mark
 * at the beginning says that this is UTF-8.
 */
export function csv(rows: readonly (readonly (string | number)[])[]): string {
  return `\ufeff${rows.map((row) => `${row.map((cell) => quoted(harmless(cell))).join(",")}\r\n`).join("")}`;
}

/**
 * Spreadsheets run what begins like a formula (OWASP, "CSV Injection"), also behind spaces and with the full-width signs;
 * the names of files and models come from strangers.
 */
function harmless(cell: string | number): string {
  if (typeof cell === "number") return String(cell);
  return /^(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/.test(cell) ? `'${cell}` : cell;
}

const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
