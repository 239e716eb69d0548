import { benchRow, isRow } from "./benchRow";
import type { BenchOutput, BenchRow, RejectedRow } from "./benchRow";
import { jsonObjects } from "./jsonObjects";
import { csvCells, markdownTables, sqlInsert } from "./textTables";
import type { TableRow } from "./textTables";
import { append } from "../lists";
import { ownValue } from "../ownValue";

/** Reads the standard output of `llama-bench -o json|jsonl|csv|md|sql`, whole or cut off. */
export function parseLlamaBench(text: string): BenchOutput {
  if (text.includes("INSERT INTO")) return fromSql(text);
  if (/^\s*\[?\s*\{|\n\s*\{/.test(text)) return fromJson(text);
  if (/^build_commit,|\nbuild_commit,|^"?build_commit"?,/.test(text)) return fromCsv(text);
  return fromMarkdown(text);
}

function collect(parsed: readonly (BenchRow | RejectedRow)[], warnings: readonly string[]): BenchOutput {
  return {
    rows: parsed.filter(isRow),
    rejected: parsed.filter((row): row is RejectedRow => !isRow(row)),
    warnings,
  };
}

function fromJson(text: string): BenchOutput {
  const { objects, rest } = jsonObjects(text);
  const rows = objects.map((object) => {
    const raw: Record<string, string> = {};
    for (const [name, value] of Object.entries(object)) {
      if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
        raw[name] = String(value);
      }
    }
    return benchRow(raw, numbers(object["samples_ns"]));
  });
  return collect(rows, rest);
}

function numbers(value: unknown): readonly number[] {
  return Array.isArray(value) ? value.filter((v): v is number => typeof v === "number") : [];
}

function fromCsv(text: string): BenchOutput {
  const rows: (BenchRow | RejectedRow)[] = [];
  const warnings: string[] = [];
  let header: readonly string[] | undefined;
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === "") continue;
    const cells = csvCells(line);
    if (cells[0] === "build_commit") header = cells;
    else if (header !== undefined && cells.length === header.length) {
      rows.push(benchRow(Object.fromEntries(header.map((name, i) => [name, cells[i] ?? ""])), []));
    } else warnings.push(line);
  }
  return collect(rows, warnings);
}

function fromSql(text: string): BenchOutput {
  const rows: (BenchRow | RejectedRow)[] = [];
  const warnings: string[] = [];
  const withoutTable = text.replace(/CREATE TABLE[\s\S]*?\);/g, "");
  for (const line of withoutTable.split(/\r?\n/)) {
    const raw = sqlInsert(line);
    if (raw !== undefined) rows.push(benchRow(raw, []));
    else if (line.trim() !== "") warnings.push(line);
  }
  return collect(rows, warnings);
}

/** A table's build stands below it; several runs may be pasted one after the other. */
function fromMarkdown(text: string): BenchOutput {
  const rows: (BenchRow | RejectedRow)[] = [];
  const warnings: string[] = [];
  for (const [run, commit, number] of text.matchAll(/[^]*?(?:^[ \t]*build: (\S+) \((\d+)\)|(?![^]))/gm)) {
    const { rows: table, rest } = markdownTables(run);
    const build = { ...(commit && { build_commit: commit }), ...(number && { build_number: number }) };
    for (const cells of table) {
      const raw = markdownFields(cells);
      if (raw !== undefined) rows.push(benchRow({ ...build, ...raw }, []));
    }
    append(
      warnings,
      rest.filter((line) => !line.trimStart().startsWith("build: ")),
    );
  }
  return collect(rows, warnings);
}

const markdownNames: Readonly<Record<string, string>> = {
  model: "model_type",
  backend: "backends",
  ngl: "n_gpu_layers",
  threads: "n_threads",
  fa: "flash_attn",
  ts: "tensor_split",
  ot: "tensor_buft_overrides",
  sm: "split_mode",
  dev: "devices",
};

/** `1234.5 ± 6.7`; undefined for what is written in another way, such as `1,234.5`, which could be two numbers. */
export function speedOf(cell: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(?:\s*(?:±|\+\/-|\+-)\s*[\d.]+)?$/.exec(cell.trim());
  return match === null ? undefined : Number(match[1]);
}

/** The fields behind a row of llama-bench's table: `pp512 @ d4096` and `1234.5 ± 6.7` taken apart. */
function markdownFields(cells: TableRow): Readonly<Record<string, string>> | undefined {
  const test = /^(pp|tg)(\d+)(?:\+tg(\d+))?(?: @ d(\d+))?$/.exec(cells["test"] ?? "");
  const speed = speedOf(cells["t/s"] ?? "");
  if (test === null || speed === undefined) return undefined;
  const [, kind, first = "0", second = "0", depth = "0"] = test;
  const prompt = kind === "pp" ? Number(first) : 0;
  const generated = kind === "tg" ? Number(first) : Number(second);
  const raw: Record<string, string> = {};
  for (const [name, value] of Object.entries(cells)) raw[ownValue(markdownNames, name) ?? name] = value;
  return {
    ...raw,
    n_prompt: String(prompt),
    n_gen: String(generated),
    n_depth: depth,
    avg_ns: String(((prompt + generated) / speed) * 1e9),
  };
}
