import type { MonitorReport } from "../../monitor/monitorSample";
import { Wire } from "../../wire";
import type { MachineFacts } from "../../history/historyRecord";
import type { CurvePoint } from "../../prefill/depthCurve";
import type { Text } from "../../text";
import type { ConstraintResult } from "../prompt/constraints";
import type { LadderPlan } from "../plan/plan";
import type { InvalidReason, ScoredCanary } from "./scoring";

export const ladderVersion = 1;

/** How the prompt of a rung was read: cold, or on top of the rung before (its notes were in the cache). */
export type ReadMode = "cold" | "grown";

export type StepPurpose = "base" | "curve" | "target" | "confirmation";

/** A failure of the system, not of the model's memory. The ladder stops at the first one. */
export type SystemFailureKind =
  "serverDied" | "contextTooSmall" | "outOfMemory" | "serverError" | "timeLimit" | "busy";

export interface SystemFailure {
  readonly kind: SystemFailureKind;
  /** The server's own words where it had any. */
  readonly message: string;
  /** Tokens that had been read when it happened, where progress was reported. */
  readonly atTokens?: number;
  readonly device?: string;
  /** Last lines of the server's log, where the log is known. */
  readonly log?: readonly string[];
}

export interface DevicePeak {
  readonly name: string;
  readonly totalBytes?: number;
  readonly leastFreeBytes: number;
}

export interface StepMemory {
  /** Peak of the server's process in host memory. */
  readonly serverPeakBytes?: number;
  readonly hostLeastFreeBytes?: number;
  readonly hostTotalBytes?: number;
  readonly devices: readonly DevicePeak[];
}

/** One run at one length: one line of the record. */
export interface LadderStep {
  readonly kind: "step";
  readonly tokens: number;
  /** Number of the run, from 1; every run has its own seed. */
  readonly run: number;
  readonly purpose: StepPurpose;
  readonly mode?: ReadMode;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly seconds: number;
  readonly sentTokens: number;
  readonly evaluatedTokens?: number;
  readonly cachedTokens?: number;
  /** Time the server needed for the tokens that were not cached. */
  readonly prefillSeconds?: number;
  /** For readers of the file. */
  readonly prefillTokensPerSecond?: number;
  readonly generationTokensPerSecond?: number;
  readonly points?: readonly CurvePoint[];
  readonly canaries?: readonly ScoredCanary[];
  /** The common answer was one JSON object and nothing else. */
  readonly cleanFormat?: boolean;
  readonly constraints?: readonly (ConstraintResult & { readonly position: number })[];
  /** Why the code answer says nothing about the constraints, which then are absent. */
  readonly constraintInvalid?: InvalidReason;
  /** For readers of the file: the module the constraints were asked of. */
  readonly constraintModule?: string;
  readonly answer?: string;
  readonly constraintAnswer?: string;
  /** Token ids of the common answer and of the code answer, thinking included. */
  readonly answerIds?: readonly number[];
  readonly constraintIds?: readonly number[];
  /** Natural logarithm of each token's probability in the code answer. */
  readonly constraintLogProbabilities?: readonly number[];
  readonly invalid?: InvalidReason;
  readonly failure?: SystemFailure;
  readonly memory?: StepMemory;
  readonly monitor?: MonitorReport;
}

/** The configuration that was tested, option by option as far as it is known; compared field by field. */
export type LadderSetup = Readonly<Record<string, string>>;

/** What else belongs to a setup, for readers: KV cache types, quantisation, backend, GPU, driver, threads. */
export type LadderConditions = Readonly<Record<string, string>>;

/** First line of a record: everything that was decided before the first rung. */
export interface LadderHeader {
  readonly kind: "ladder";
  readonly version: typeof ladderVersion;
  readonly tool: string;
  readonly at: number;
  readonly plan: LadderPlan;
  readonly planHash: string;
  readonly criteriaHash: string;
  /** Of the text between the canaries, where it is a folder's. */
  readonly fillerHash?: string;
  readonly setup: LadderSetup;
  readonly conditions?: LadderConditions;
  readonly machine: MachineFacts;
  readonly url: string;
  readonly nCtxPerSlot: number;
  readonly totalSlots: number;
  /** File name of the plan, for people. */
  readonly label?: string;
  /** Where the plan's relative paths begin: what goes on later needs it. */
  readonly planFolder?: string;
}

export type LadderLine = LadderHeader | LadderStep;

/** What a ladder leaves, whole or broken off. */
export interface LadderRecord {
  readonly header: LadderHeader;
  readonly steps: readonly LadderStep[];
  readonly warnings: readonly Text[];
}

/** One line of a stored record; undefined for one that a kill tore or that a later version wrote. */
export function parseLadderLine(line: string): LadderLine | undefined {
  const value = Wire.ofJson(line, "");
  return value?.ifFits(readHeader) ?? value?.ifFits(readStep);
}

function readHeader(line: Wire): LadderHeader {
  line.at("kind").oneOf(["ladder"]);
  line.at("version").oneOf([ladderVersion]);
  line.at("at").time();
  line.at("plan").at("rungs").items();
  for (const part of ["criteria", "canaries", "limits"]) line.at("plan").at(part).object();
  for (const part of ["machine", "setup"]) line.at(part).object();
  for (const hash of ["planHash", "criteriaHash"]) line.at(hash).longText();
  return line.object() as unknown as LadderHeader;
}

function readStep(line: Wire): LadderStep {
  line.at("kind").oneOf(["step"]);
  line.at("tokens").number();
  line.at("run").number();
  line.at("purpose").longText();
  return line.object() as unknown as LadderStep;
}
