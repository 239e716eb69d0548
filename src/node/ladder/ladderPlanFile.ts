import { readFile, stat } from "node:fs/promises";
import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Node } from "yaml";
import { parsePlan } from "../../core/ladder/plan/parsePlan";
import type { LadderPlan } from "../../core/ladder/plan/plan";
import type { PlanField, PlanNode } from "../../core/ladder/plan/planNode";
import type { PlanProblem } from "../../core/ladder/plan/planProblem";
import { PlanError, planError } from "../../core/ladder/plan/planReader";
import { bytes, say } from "../../core/text";
import { UserError } from "../../core/userError";

const maxBytes = 2 ** 20;
const maxDepth = 16;

/** Reads `*.ladder.yaml`. Fails with `UserError` that names line, field and remedy. */
export async function readPlanFile(file: string, signal: AbortSignal): Promise<LadderPlan> {
  let text: string;
  try {
    const { size } = await stat(file);
    if (size > maxBytes) {
      throw new UserError(
        "tooLarge",
        say`The plan ${file} is larger than ${bytes(maxBytes)}.`,
        say`Specify a ladder plan.`,
      );
    }
    text = await readFile(file, { encoding: "utf8", signal });
  } catch (cause) {
    if (cause instanceof UserError || signal.aborted) throw cause;
    throw new UserError("notFound", say`The plan ${file} cannot be read.`, say`Specify an existing file.`, {
      cause,
    });
  }
  return parsePlanText(text);
}

/** The first thing that is wrong; undefined for a plan that can be run. */
export function planProblem(text: string): PlanProblem | undefined {
  try {
    parsePlanText(text);
    return undefined;
  } catch (cause) {
    if (!(cause instanceof PlanError)) throw cause;
    const { planLine: line, field, about: problem, remedy } = cause;
    return { line, field, problem, remedy };
  }
}

/** A plan from its text in YAML (or JSON, which is YAML). */
export function parsePlanText(text: string): LadderPlan {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    maxAliasCount: 0,
    uniqueKeys: false,
  } as Parameters<typeof parseDocument>[1]);
  const [error] = document.errors;
  if (error !== undefined) {
    const [message = ""] = error.message.split(" at line ");
    throw planError(
      lines.linePos(error.pos[0]).line,
      "plan",
      say`this is not YAML: ${message}.`,
      say`Correct the line; the cause is usually indentation or brackets.`,
    );
  }
  if (document.contents === null) {
    throw planError(1, "plan", say`the file is empty.`, say`Start with rungs: [8K, 32K] and criteria.`);
  }
  return parsePlan(planNode(document.contents, lines, 0));
}

function planNode(node: unknown, lines: LineCounter, depth: number): PlanNode {
  const offset = (node as Node | null)?.range?.[0] ?? 0;
  const { line } = lines.linePos(offset);
  if (depth > maxDepth) throw planError(line, "plan", say`this is nested too deeply.`, say`Do not nest it.`);
  if (isMap(node)) {
    return {
      kind: "map",
      line,
      fields: node.items.map(({ key, value }): PlanField => {
        const at = lines.linePos((key as Node | null)?.range?.[0] ?? offset).line;
        return {
          name: isScalar(key) ? String(key.value) : "?",
          line: at,
          node:
            value === null ? { kind: "scalar", line: at, value: null } : planNode(value, lines, depth + 1),
        };
      }),
    };
  }
  if (isSeq(node))
    return { kind: "list", line, items: node.items.map((item) => planNode(item, lines, depth + 1)) };
  if (isScalar(node)) {
    const { value } = node;
    // a number that JavaScript cannot hold stays as it was written
    const exact = typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
    if (exact) return { kind: "scalar", line, value: node.source ?? String(value) };
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
      return { kind: "scalar", line, value };
    }
    if (value === null) return { kind: "scalar", line, value };
  }
  throw planError(
    line,
    "plan",
    say`only plain values, lists and maps are allowed here.`,
    say`Write the value directly.`,
  );
}
