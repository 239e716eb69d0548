// Regenerates src/core/launch/optionRows.ts from a real llama-server: `node scripts/optionTable.mjs [--check] [PROGRAM]`;
// the project's llama.cpp where no PROGRAM is named. `--check` writes nothing and compares what the help says.
// Names, negative forms, value hint, default and variable come from `--help`; what values an option takes is found by
// offering it three (a word, -1, 0) in front of `--version`. No help prose is kept.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { llamaCpp } from "./llamaCpp.mjs";

const run = promisify(execFile);
const target = path.join(import.meta.dirname, "../src/core/launch/optionRows.ts");

const sections = {
  "common params": "common",
  "sampling params": "sampling",
  "speculative params": "speculative",
  "example-specific params": "server",
};

/** Options of a `--help` text: section, names, negatives, hint, default, variable. */
export function readHelp(help) {
  const options = [];
  let section = "";
  let current;
  for (const line of help.split(/\r?\n/)) {
    const title = /^-----\s*(.*?)\s*-----$/.exec(line);
    if (title) {
      section = sections[title[1]] ?? title[1];
    } else if (/^-/.test(line)) {
      current = { section, ...readNames(line), text: line.slice(40) };
      options.push(current);
    } else if (current !== undefined && line.trim() !== "") {
      current.text += ` ${line.trim()}`;
    }
  }
  return options.map(({ text, ...option }) => ({
    ...option,
    default: readDefault(text),
    env: /\(env: ([A-Z0-9_]+)\)/.exec(text)?.[1] ?? "",
  }));
}

function readNames(line) {
  const names = [];
  const negatives = [];
  const inOrder = [];
  let rest = line;
  for (;;) {
    const match = /^(--?[A-Za-z][\w.-]*)(,?)(\s*)/.exec(rest);
    if (!match) break;
    const [whole, name, comma, gap] = match;
    const positive = names.find((known) => known.startsWith("--"));
    const negative = positive !== undefined && (name.startsWith("--no-") || /^-n/.test(name));
    (negative ? negatives : names).push(name);
    inOrder.push(name);
    rest = rest.slice(whole.length);
    if (comma === "") {
      const hint = gap === " " ? (/^(.*?)(?:\s{2,}|$)/.exec(rest)?.[1] ?? "") : "";
      // only switches have negative forms; elsewhere a short name just happens to start with n
      return hint === "" ? { names, negatives, hint } : { names: inOrder, negatives: [], hint };
    }
  }
  return { names, negatives, hint: "" };
}

function readDefault(text) {
  const start = text.search(/\(default: /);
  if (start < 0) return /, default: (.*?)(?: \(|\)|$)/.exec(text)?.[1] ?? "";
  let depth = 0;
  for (let end = start; end < text.length; end++) {
    if (text[end] === "(") depth++;
    if (text[end] === ")" && --depth === 0) {
      const value = text.slice(start + 10, end).trim();
      return value.length > 60 || value.includes(" | ") ? "" : value;
    }
  }
  return "";
}

async function main(arguments_) {
  const check = arguments_.includes("--check");
  const named = arguments_.find((word) => !word.startsWith("--"));
  const program = named ?? path.join((await llamaCpp()).folder, "llama-server");
  const folder = mkdtempSync(path.join(tmpdir(), "option-table-"));
  const start = async (...words) => {
    try {
      const { stdout, stderr } = await run(program, words, { cwd: folder, timeout: 20_000 });
      return { ok: true, text: stdout + stderr };
    } catch (error) {
      return { ok: false, text: `${error.stderr ?? ""}${error.stdout ?? ""}` };
    }
  };
  try {
    const help = await start("--help");
    if (!help.ok) throw new Error(`no help from ${program}`);
    const build = /build[: ]+(\d+)/.exec((await start("--version")).text)?.[1] ?? "0";
    const kinds = check ? writtenKinds() : undefined;
    const rows = [];
    for (const option of readHelp(help.text)) {
      const kind = kinds
        ? (kinds.get(option.names.join(" ")) ?? "?")
        : option.hint === ""
          ? "flag"
          : await kindOf(option, start);
      const fields = [option.section, option.names.join(" "), option.negatives.join(" "), option.hint, kind];
      rows.push([...fields, option.default, option.env].map((field) => field || "-").join(" | "));
    }
    const source = render(rows, build);
    if (!check) writeFileSync(target, source);
    else if (readFileSync(target, "utf8") !== source) {
      console.error(difference(readFileSync(target, "utf8"), source));
      process.exitCode = 1;
    }
    console.log(`${rows.length} options of build ${build}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Names → kind, as the table has them. */
function writtenKinds() {
  const rows = readFileSync(target, "utf8")
    .split("\n")
    .filter((line) => line.includes(" | "));
  return new Map(rows.map((row) => row.split(" | ")).map((fields) => [fields[1], fields[4]]));
}

function difference(before, after) {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const gone = old.filter((line) => !now.includes(line)).map((line) => `- ${line}`);
  const come = now.filter((line) => !old.includes(line)).map((line) => `+ ${line}`);
  return [...gone, ...come].join("\n");
}

async function kindOf(option, start) {
  const name = option.names.at(-1);
  if (/^[A-Z]+ [A-Z]+$/.test(option.hint)) return "two";
  const offer = (value) => start(name, value, "--version");
  const word = await offer("zzz");
  if (word.ok) return "text";
  const kind = /: stoi\b/.test(word.text)
    ? "integer"
    : /: sto(ul|ull)\b/.test(word.text)
      ? "unsigned"
      : /: sto[fd]\b/.test(word.text)
        ? "number"
        : "special";
  if (kind === "special" || kind === "unsigned") return kind;
  const [minusOne, zero] = [await offer("-1"), await offer("0")];
  if (/has been removed/.test(zero.text)) return "removed";
  if (!zero.ok && !minusOne.ok) return `${kind}>0`;
  return minusOne.ok ? kind : `${kind}>=0`;
}

function render(rows, build) {
  return `// Generated by scripts/optionTable.mjs from llama-server; do not edit. Fields: section | names | negative names |
// value hint | kind | default | environment variable; "-" is an empty field.

/** Build the rows were read from. */
export const optionRowsBuild = ${build};

export const optionRows = String.raw\`
${rows.join("\n")}
\`;
`;
}

if (process.argv[1] === import.meta.filename) await main(process.argv.slice(2));
