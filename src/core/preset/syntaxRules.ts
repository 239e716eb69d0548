import { say } from "../text";
import { findingAt, replaceSpan, type Finding } from "./finding";
import type { BrokenLine, PresetDocument, Span } from "./presetDocument";

/** Lines llama.cpp cannot read: one of them and the server refuses the whole file. */
export function syntaxFindings(document: PresetDocument): Finding[] {
  return [
    ...document.broken.map(brokenLine),
    ...document.overLines.map((span) =>
      findingAt(
        span,
        "warning",
        "headerOverLines",
        say`The closing bracket is missing on this line: llama-server takes everything up to the next one as the name.`,
        replaceSpan(say`Close the bracket`, { ...span, start: span.end, text: "" }, "]"),
      ),
    ),
    ...document.lines.flatMap(oddCharacters),
  ];
}

function brokenLine({ span, why }: BrokenLine): Finding {
  switch (why) {
    case "byteOrderMark": {
      const fix = replaceSpan(say`Remove the byte order mark`, span, "");
      return findingAt(
        span,
        "error",
        why,
        say`llama-server cannot read a file that starts with a byte order mark.`,
        fix,
      );
    }
    case "indented": {
      const fix = replaceSpan(say`Remove the leading spaces`, span, "");
      return findingAt(
        span,
        "error",
        why,
        say`Keys and section names must be at the start of the line.`,
        fix,
      );
    }
    case "noEquals": {
      const end: Span = { ...span, start: span.end, text: "" };
      const fix = replaceSpan(say`Set the option on`, end, " = on");
      const message = say`Only sections, comments and lines of the form key = value are allowed.`;
      const isName = /^[A-Za-z_][\w.-]*$/.test(span.text);
      return isName ? findingAt(span, "error", why, message, fix) : findingAt(span, "error", why, message);
    }
    case "noKey":
      return findingAt(span, "error", why, say`The key before the equals sign is missing.`);
    case "badKey": {
      const dashes = /^-+/.exec(span.text)?.[0];
      const message = say`A key consists of letters, digits, dots, dashes and underscores, and starts with a letter.`;
      if (dashes === undefined) return findingAt(span, "error", why, message);
      const place: Span = { ...span, end: span.start + dashes.length, text: dashes };
      const fix = replaceSpan(say`Remove the dashes`, place, "");
      return findingAt(span, "error", why, say`Write keys without the dashes of the command line.`, fix);
    }
    case "emptyName":
      return findingAt(span, "error", why, say`The section has no name.`);
    case "unclosedHeader": {
      const end: Span = { ...span, start: span.end, text: "" };
      const fix = replaceSpan(say`Close the bracket`, end, "]");
      return findingAt(span, "error", why, say`The closing bracket is missing.`, fix);
    }
    case "afterHeader":
      return findingAt(span, "error", why, say`Only a comment may follow a section name.`);
  }
}

// a NUL ends the value inside llama.cpp, a no-break space becomes part of it
const odd = /(?!\t)[\p{Cc}\p{Cf}\u00a0\u2000-\u200a\u2028\u2029\u202f]/u;

function oddCharacters(text: string, line: number): Finding[] {
  const found = odd.exec(text.startsWith("\ufeff") && line === 0 ? ` ${text.slice(1)}` : text);
  if (found === null) return [];
  const { index } = found;
  const span: Span = { text: found[0], line, start: index, end: index + found[0].length };
  const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  const message = say`Invisible character (U+${code}); llama-server treats it as part of the text.`;
  return [findingAt(span, "warning", "invisibleCharacter", message, replaceSpan(say`Remove it`, span, ""))];
}
