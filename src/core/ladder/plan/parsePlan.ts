import { LineCounter } from "yaml";
import { boundedYaml } from "../../boundedYaml";
import { count, percent, say } from "../../text";
import { defaultCriteria, defaultPlan, positionsAt, targetOf, tokensPerCanary } from "./plan";
import type { CanaryPlan, FillerPlan, LadderCriteria, LadderPlan } from "./plan";
import { planError, PlanReader } from "./planReader";
import { smallest } from "../../lists";

const fields = [
  "rungs",
  "baseTokens",
  "repetitions",
  "repeated",
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
const constraintTokens = 400;
const maxTokens = 16_777_216;
const MiB = 2 ** 20;

/** A plan from its text in YAML (or JSON, which is YAML). Fails with `PlanError`, naming line, field and remedy. */
export function parsePlan(text: string): LadderPlan {
  const root = readDocument(text);
  const rungs = readRungs(root);
  const first = rungs[0] ?? 0;
  const canaries = readCanaries(root);
  const constraints = readConstraints(root, canaries);
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
  const limits = root.map("limits", ["rungSeconds", "totalSeconds"]);
  const plan: LadderPlan = {
    rungs,
    baseTokens: Math.floor(baseTokens),
    repetitions,
    ...readRepeated(root, [Math.floor(baseTokens), ...rungs]),
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

function readDocument(text: string): PlanReader {
  const lines = new LineCounter();
  const document = boundedYaml(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: "silent",
  });
  if (document === undefined) {
    throw planError(1, "plan", say`this is nested too deeply to be a plan.`, say`Specify a ladder plan.`);
  }
  const { contents, errors } = document;
  const [error] = errors;
  if (error !== undefined) {
    throw planError(
      lines.linePos(error.pos[0]).line,
      "plan",
      say`this is not YAML: ${error.message}.`,
      say`Correct the line; the cause is usually indentation or brackets.`,
    );
  }
  if (contents === null) {
    throw planError(1, "plan", say`the file is empty.`, say`Start with rungs: [8K, 32K] and criteria.`);
  }
  return new PlanReader({ node: contents, line: lines.linePos(contents.range[0]).line }, lines, "", fields);
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

/** Rules are kept in an answer, and where lines are only completed there is none. */
function readConstraints(root: PlanReader, { question }: CanaryPlan): boolean {
  const wanted = root.boolean("constraints");
  if (question !== "line") return wanted ?? defaultPlan.constraints;
  if (wanted !== true) return false;
  throw root.fail(
    "constraints",
    say`with question: line, the model is asked for no code that could keep rules.`,
    say`Write constraints: false, or question: json.`,
  );
}

function readRepeated(root: PlanReader, lengths: readonly number[]): Pick<LadderPlan, "repeated"> {
  const repeated = root.numbers("repeated", { least: 1, most: maxTokens });
  const unknown = repeated?.find((tokens) => !lengths.includes(tokens));
  if (unknown !== undefined) {
    throw root.fail(
      "repeated",
      say`${count(unknown)} is no length of this plan.`,
      say`Name lengths of rungs, or baseTokens.`,
    );
  }
  return repeated === undefined || repeated.length === 0 ? {} : { repeated };
}

function readSeed(root: PlanReader): string {
  if (!root.has("seed")) return defaultPlan.seed;
  const text = String(root.scalar("seed"));
  if (/^\d{1,20}$/.test(text) && BigInt(text) < 2n ** 64n) return BigInt(text).toString();
  throw root.fail(
    "seed",
    say`this must be a whole number of at most 64 bits.`,
    say`Write e.g. seed: 20260923; large ones in quotes.`,
  );
}

function readCanaries(root: PlanReader): CanaryPlan {
  const reader = root.map("canaries", ["target", "other", "positions", "distractors", "question"]);
  if (reader === undefined) return defaultPlan.canaries;
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
  const question = reader.oneOf("question", ["json", "line"]);
  return {
    target,
    other,
    ...(question !== undefined && { question }),
    ...(positions !== undefined && { positions }),
    distractors: reader.boolean("distractors") ?? true,
  };
}

function readFiller(root: PlanReader): FillerPlan {
  if (!root.has("filler")) return defaultPlan.filler;
  const name = root.scalar("filler");
  if (name !== undefined) {
    if (name === "shipped") return { kind: "shipped" };
    throw root.fail(
      "filler",
      say`this is neither \`shipped\` nor a folder.`,
      say`Write filler: shipped, or filler: { folder: ./src }.`,
    );
  }
  const reader = root.map("filler", ["folder"]);
  const folder = reader?.scalar("folder");
  if (typeof folder === "string" && folder !== "") return { kind: "folder", folder };
  throw planError(
    reader?.line ?? root.lineOf("filler"),
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
  const reader = root.scalar("criteria") === null ? undefined : root.map("criteria", criteriaFields);
  if (reader === undefined) {
    throw root.fail(
      "criteria",
      say`the plan does not declare what counts as a pass. Criteria are declared before the run.`,
      say`Add criteria with at least perRun and pooled, e.g. criteria: { perRun: 18, pooled: 56 }.`,
    );
  }
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
    const asked = plan.canaries.question === "line" ? 1 : positions.length;
    const needed =
      positions.length * lines * tokensPerCanary.line +
      asked * tokensPerCanary.question +
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
