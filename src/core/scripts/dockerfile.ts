import { MappedText } from "./mappedText";

export interface Instruction {
  /** In capitals. */
  readonly name: string;
  /** Behind the name, continued lines put together. */
  readonly text: MappedText;
  /** The lines of its here-documents. */
  readonly bodies: readonly MappedText[];
}

/** The instructions of a Dockerfile, as BuildKit's parser puts lines together. */
export function instructionsOf(document: string): Instruction[] {
  const escape = /^(?:#[^\n]*\n)*?#[ \t]*escape[ \t]*=[ \t]*([\\`])/i.exec(document)?.[1] ?? "\\";
  const continued = escape === "\\" ? /\\[ \t]*\r?\n?$/ : /`[ \t]*\r?\n?$/;
  const lines = Array.from(document.matchAll(/[^\n]*\n|[^\n]+$/g), ([line]) => line);
  const instructions: Instruction[] = [];
  let [at, offset] = [0, 0];
  const next = (): { readonly line: string; readonly start: number } | undefined => {
    const line = lines[at];
    if (line === undefined) return undefined;
    const start = offset;
    at++;
    offset += line.length;
    return { line, start };
  };
  for (let first = next(); first !== undefined; first = next()) {
    const name = /^[ \t]*([A-Za-z]+)(?:[ \t]+|$|(?=\r?\n))/.exec(first.line);
    if (name === null) continue;
    const text = new MappedText();
    const start = first.start + name[0].length;
    let isContinued = addLine(text, first.line.slice(name[0].length), start, continued);
    while (isContinued) {
      const more = next();
      if (more === undefined) break;
      if (/^[ \t]*(?:#|\r?\n?$)/.test(more.line)) continue;
      isContinued = addLine(text, more.line, more.start, continued);
    }
    const isScript = /^\s*(?:RUN|COPY|ADD)\b/i.test(name[0]);
    const ends = isScript ? text.text.matchAll(/(?<=^|\s)\d*<<-?(["']?)(\w+)\1/g) : [];
    const bodies = Array.from(ends, ([, , end]) => {
      const body = new MappedText();
      for (let line = next(); line !== undefined && line.line.trim() !== end; line = next()) {
        body.addVerbatim(line.line, line.start);
      }
      return body;
    });
    instructions.push({ name: name[1]?.toUpperCase() ?? "", text, bodies });
  }
  return instructions;
}

/** Is the line continued? */
function addLine(text: MappedText, line: string, start: number, continued: RegExp): boolean {
  const end = continued.exec(line)?.index;
  text.addVerbatim(line.slice(0, end ?? line.replace(/\r?\n$/, "").length), start);
  return end !== undefined;
}
