import { count, percent, say } from "../../text";
import { defaultCriteria, defaultPlan, positionsAt, targetOf } from "./plan";
import type { CanaryPlan, FillerPlan, LadderCriteria, LadderPlan } from "./plan";
import type { PlanNode } from "./planNode";
import { planError, PlanReader } from "./planReader";
import { smallest } from "../../lists";

const fields = [
  "rungs",
  "baseTokens",
  "repetitions",
  "seed",
  "canaries",
  "constraints",
  "filler",
  "answerTokens",
  "thinking",
  "limits",
  "criteria",
];
const criteriaFields = [
  "perRun",
  "pooled",
  "constraints",
  "prefillSeconds",
  "generationTokensPerSecond",
  "memoryMarginMiB",
  "memoryMarginPercent",
  "monitor",
];
/** A canary's line, its twin's and its part of the question, in tokens of a usual vocabulary. */
export const tokensPerCanary = { line: 32, question: 18 } as const;
const constraintTokens = 400;
const maxTokens = 16_777_216;
const MiB = 2 ** 20;

/** A plan file's content as a plan. Fails with `invalidInput`, naming line, field and remedy. */
export function parsePlan(document: PlanNode): LadderPlan {
  const root = new PlanReader(document, "", fields);
  const rungs = readRungs(root);
  const first = rungs[0] ?? 0;
  const canaries = readCanaries(root);
  const constraints = root.boolean("constraints") ?? defaultPlan.constraints;
  const baseTokens =
    root.number("baseTokens", { least: 256, most: maxTokens }) ?? Math.min(defaultPlan.baseTokens, first / 2);
  if (baseTokens >= first) {
    throw root.fail(
      "baseTokens",
      say`the base score must be shorter than the first rung (${count(first)} token[s]).`,
      say`Use at most half of the first rung.`,
    );
  }
  const repetitions = root.number("repetitions", { least: 1, most: 20 }) ?? defaultPlan.repetitions;
  const limits =
    root.node("limits") === undefined
      ? undefined
      : new PlanReader(must(root, "limits"), "limits", limitNames);
  const plan: LadderPlan = {
    rungs,
    baseTokens: Math.floor(baseTokens),
    repetitions,
    seed: readSeed(root),
    canaries,
    constraints,
    filler: readFiller(root),
    answerTokens: root.number("answerTokens", { least: 64, most: 131_072 }) ?? defaultPlan.answerTokens,
    thinking: root.oneOf("thinking", ["off", "on"]) ?? defaultPlan.thinking,
    limits: {
      rungSeconds:
        limits?.number("rungSeconds", { least: 1, most: 604_800 }) ?? defaultPlan.limits.rungSeconds,
      totalSeconds:
        limits?.number("totalSeconds", { least: 1, most: 2_592_000 }) ?? defaultPlan.limits.totalSeconds,
    },
    criteria: readCriteria(root, { repetitions, canaries, constraints }),
  };
  checkRoom(root, plan);
  return plan;
}

const limitNames = ["rungSeconds", "totalSeconds"];

function must(reader: PlanReader, name: string): PlanNode {
  const node = reader.node(name);
  if (node === undefined) throw reader.fail(name, say`this field is missing.`, say`Add it.`);
  return node;
}

function readRungs(root: PlanReader): readonly number[] {
  if (!root.has("rungs")) {
    throw root.fail(
      "rungs",
      say`the plan has no rungs.`,
      say`Add the prompt lengths to test, e.g. rungs: [8K, 32K, 64K].`,
    );
  }
  const rungs = root.numbers("rungs", { least: 512, most: maxTokens }) ?? [];
  if (rungs.length === 0 || rungs.length > 64) {
    throw root.fail("rungs", say`there must be 1 to 64 rungs.`, say`Write them as [8K, 32K, 64K].`);
  }
  const wrong = rungs.findIndex((rung, i) => i > 0 && rung <= (rungs[i - 1] ?? 0));
  if (wrong > 0) {
    throw root.fail(
      "rungs",
      say`rung ${count(rungs[wrong] ?? 0)} follows ${count(rungs[wrong - 1] ?? 0)}: each must be longer than the one before.`,
      say`Sort the lengths and remove duplicates; \`repetitions\` sets the number of runs.`,
    );
  }
  return rungs;
}

function readSeed(root: PlanReader): string {
  const node = root.node("seed");
  if (node === undefined) return defaultPlan.seed;
  const text = node.kind === "scalar" ? String(node.value) : "";
  if (/^\d{1,20}$/.test(text) && BigInt(text) < 2n ** 64n) return BigInt(text).toString();
  throw root.fail(
    "seed",
    say`this must be a whole number of at most 64 bits.`,
    say`Write e.g. seed: 20260923; large ones in quotes.`,
  );
}

function readCanaries(root: PlanReader): CanaryPlan {
  const node = root.node("canaries");
  if (node === undefined) return defaultPlan.canaries;
  const reader = new PlanReader(node, "canaries", ["target", "other", "positions", "distractors"]);
  const positions = reader.numbers("positions", { least: 1, most: 97, whole: false });
  const usual = positions?.length ?? defaultPlan.canaries.target;
  const target = reader.number("target", { least: 1, most: 100 }) ?? usual;
  const other =
    reader.number("other", { least: 1, most: 100 }) ?? Math.min(target, defaultPlan.canaries.other);
  const wrong = positions?.findIndex((p, i) => i > 0 && p <= (positions[i - 1] ?? 0)) ?? -1;
  if (positions !== undefined && wrong > 0) {
    throw reader.fail(
      "positions",
      say`${percent(positions[wrong] ?? 0)} does not come after ${percent(positions[wrong - 1] ?? 0)}: two canaries would overlap.`,
      say`Use increasing, distinct positions.`,
    );
  }
  if (positions !== undefined && positions.length !== target && positions.length !== other) {
    throw reader.fail(
      "positions",
      say`there are ${count(positions.length)} position[s] for ${count(target)} canar[y|ies].`,
      say`Give one position per canary, or omit the positions.`,
    );
  }
  return {
    target,
    other,
    ...(positions !== undefined && { positions }),
    distractors: reader.boolean("distractors") ?? true,
  };
}

function readFiller(root: PlanReader): FillerPlan {
  const node = root.node("filler");
  if (node === undefined) return defaultPlan.filler;
  if (node.kind === "scalar") {
    if (node.value === "shipped") return { kind: "shipped" };
    throw root.fail(
      "filler",
      say`this is neither \`shipped\` nor a folder.`,
      say`Write filler: shipped, or filler: { folder: ./src }.`,
    );
  }
  const folder = new PlanReader(node, "filler", ["folder"]).node("folder");
  if (folder?.kind === "scalar" && typeof folder.value === "string" && folder.value !== "") {
    return { kind: "folder", folder: folder.value };
  }
  throw planError(
    node.line,
    "filler.folder",
    say`the folder's name is missing.`,
    say`Write filler: { folder: ./src }.`,
  );
}

function readCriteria(
  root: PlanReader,
  {
    repetitions,
    canaries,
    constraints,
  }: { readonly repetitions: number; readonly canaries: CanaryPlan; readonly constraints: boolean },
): LadderCriteria {
  const node = root.node("criteria");
  if (node === undefined || (node.kind === "scalar" && node.value === null)) {
    throw root.fail(
      "criteria",
      say`the plan does not declare what counts as a pass. Criteria are declared before the run.`,
      say`Add criteria with at least perRun and pooled, e.g. criteria: { perRun: 18, pooled: 56 }.`,
    );
  }
  const reader = new PlanReader(node, "criteria", criteriaFields);
  const all = canaries.target * repetitions;
  const needed = (name: "perRun" | "pooled", most: number): number => {
    const value = reader.number(name, { least: 0, most: 2000 });
    if (value === undefined) {
      throw reader.fail(
        name,
        say`this criterion is missing.`,
        say`Specify how many canaries must be recalled, at most ${count(most)}.`,
      );
    }
    if (value > most) {
      throw reader.fail(
        name,
        say`${count(value)} canar[y|ies] cannot be recalled: only ${count(most)} are asked for.`,
        say`Lower it, or use more canaries.`,
      );
    }
    return value;
  };
  const kept = reader.number("constraints", { least: 0, most: 3 });
  if (!constraints && (kept ?? 0) > 0) {
    throw reader.fail(
      "constraints",
      say`the plan declares no coding constraints but requires ${count(kept ?? 0)} to be kept.`,
      say`Write constraints: true in the plan, or 0 here.`,
    );
  }
  const prefillSeconds = reader.number("prefillSeconds", { least: 0.001, most: 1e6, whole: false });
  const speed = reader.number("generationTokensPerSecond", { least: 0, most: 1e6, whole: false });
  const margin = reader.number("memoryMarginMiB", { least: 0, most: 2 ** 24, whole: false });
  return {
    perRun: needed("perRun", canaries.target),
    pooled: needed("pooled", all),
    constraints: kept ?? (constraints ? defaultCriteria.constraints : 0),
    ...(prefillSeconds !== undefined && { prefillSeconds }),
    ...(speed !== undefined && { generationTokensPerSecond: speed }),
    memoryMarginBytes: margin === undefined ? defaultCriteria.memoryMarginBytes : margin * MiB,
    memoryMarginPercent:
      reader.number("memoryMarginPercent", { least: 0, most: 90, whole: false }) ??
      defaultCriteria.memoryMarginPercent,
    monitor: reader.oneOf("monitor", ["stated", "clean"]) ?? defaultCriteria.monitor,
  };
}

/** Every length must hold its canaries without overlap, and the questions about them. */
function checkRoom(root: PlanReader, plan: LadderPlan): void {
  const lines = plan.canaries.distractors ? 2 : 1;
  for (const tokens of [plan.baseTokens, ...plan.rungs]) {
    const positions = positionsAt(plan, tokens);
    const gaps = positions.slice(1).map((p, i) => p - (positions[i] ?? 0));
    const least = smallest(gaps, 1) * tokens;
    const field = tokens === plan.baseTokens ? "baseTokens" : "rungs";
    if (least < lines * tokensPerCanary.line * 0.8) {
      throw root.fail(
        field,
        say`at ${count(tokens)} token[s], ${count(positions.length)} canar[y|ies] overlap[s|]: a distance of ${count(Math.floor(least))} token[s] is too small.`,
        say`Use longer prompts or fewer canaries.`,
      );
    }
    const needed =
      positions.length * (lines * tokensPerCanary.line + tokensPerCanary.question) +
      (plan.constraints ? constraintTokens / 2 : 0);
    if (needed > tokens) {
      throw root.fail(
        field,
        say`${count(tokens)} token[s] cannot hold ${count(positions.length)} canar[y|ies] and the question about them (about ${count(needed)} token[s]).`,
        say`Use longer prompts or fewer canaries.`,
      );
    }
  }
  const sum = targetOf(plan) + plan.answerTokens;
  if (sum > maxTokens)
    throw root.fail("rungs", say`no model reads ${count(sum)} token[s].`, say`Use shorter rungs.`);
}
