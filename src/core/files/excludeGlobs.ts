import { wildmatch } from "./wildmatch";

const maxAlternatives = 1000;

/**
 * VS Code's globs (`files.exclude`): `*` and `?` within a name, `**` over folders, `{a,b}`, `[a-z]`, `[!a-z]`; a pattern is
 * matched against the whole path relative to its folder, `/`-separated, and `**` may stand for nothing. `x/**` also
 * names the folder `x`, so that it need not be entered. The package picomatch (4.0.7) is no help: to it `[!a-z]` is no
 * negation, `!` in front is one, and a `**` in braces does not stand for nothing.
 * @returns the glob that matches the path, if one does.
 */
export function excludeGlobs(
  globs: readonly string[],
  ignoreCase: boolean,
): (path: string) => string | undefined {
  const compiled = globs.map((glob) => ({ glob, patterns: expandBraces(glob).map(normalise) }));
  if (compiled.length === 0) return () => undefined;
  return (path) => {
    const options = { pathname: true, ignoreCase };
    return compiled.find(({ patterns }) => patterns.some((pattern) => wildmatch(pattern, path, options)))
      ?.glob;
  };
}

function normalise(glob: string): string {
  return glob
    .replace(/\\/g, "/")
    .replace(/^\.?\//, "")
    .replace(/\/$/, "");
}

/** `a{b,c{d,e}}` → ab, acd, ace; and `x/**` → `x` as well. An unclosed brace is an ordinary character. */
export function expandBraces(glob: string): string[] {
  const done = new Set<string>();
  const todo = [glob];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const group = innermostGroup(next);
    if (group === undefined) {
      done.add(next);
      if (/[^*/]\/\*\*$/.test(next)) done.add(next.slice(0, -3));
    } else {
      for (const choice of group.choices) todo.push(group.before + choice + group.after);
    }
    if (done.size + todo.length > maxAlternatives) break;
  }
  return Array.from(done);
}

function innermostGroup(glob: string): { before: string; choices: string[]; after: string } | undefined {
  const group = /\{([^{}]*)\}/.exec(glob);
  if (group === null) return undefined;
  const end = group.index + group[0].length;
  return { before: glob.slice(0, group.index), choices: (group[1] ?? "").split(","), after: glob.slice(end) };
}
