/** What the page of findings says about one of them: from its heading to the next. Undefined where it says nothing. */
export function findingSection(page: string, code: string): string | undefined {
  const lines = page.split(/\r?\n/);
  const start = lines.findIndex((line) => /^#{2,4} /.test(line) && line.includes(`\`${code}\``));
  if (start < 0) return undefined;
  const length = lines.slice(start + 1).findIndex((line) => /^#{1,4} /.test(line));
  const end = length < 0 ? lines.length : start + 1 + length;
  return `${lines.slice(start, end).join("\n").trim()}\n`;
}
