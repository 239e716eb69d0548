import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { repository } from "./repository";

/** Rooms whose sentences reach readers in their own language. The command line stays English. */
const rooms = ["core", "node", "app", "client", "languageServer", "webview"];

/** Every template tagged with `say`, as its translation's key, with the places where it stands. */
export function sayTemplates(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const files = rooms.flatMap((room) =>
    readdirSync(path.join(repository, "src", room), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => path.join("src", room, name)),
  );
  const roots = readdirSync(path.join(repository, "src"))
    .filter((name) => /^extension\w*\.ts$/.test(name))
    .map((name) => path.join("src", name));
  for (const file of [...files, ...roots]) {
    for (const key of templatesIn(file, readFileSync(path.join(repository, file), "utf8"))) {
      found.set(key, [...(found.get(key) ?? []), file]);
    }
  }
  return found;
}

export function templatesIn(file: string, text: string): readonly string[] {
  const keys: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTaggedTemplateExpression(node) && node.tag.getText() === "say") keys.push(keyOf(node.template));
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true));
  return keys;
}

function keyOf(template: ts.TemplateLiteral): string {
  if (ts.isNoSubstitutionTemplateLiteral(template)) return template.text;
  return template.templateSpans.reduce(
    (key, span, i) => `${key}{${i}}${span.literal.text}`,
    template.head.text,
  );
}

/** Figures and marks alone read the same in every language. */
export const needsTranslation = (template: string): boolean =>
  /\p{L}/u.test(template.replace(/\{\d+\}/g, ""));
