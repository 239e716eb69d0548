import type { RequestLimit } from "../acceptance/acceptance";
import type { AcceptanceReport } from "../acceptance/acceptanceReport";
import type { ServerFacts } from "../acceptance/serverFacts";
import type { TemplateOrigin } from "../acceptance/templateSource";
import type { Known } from "../known";
import type { LaunchOptions } from "../launch/launchOptions";
import type { MemoryReport } from "../memory/budget/memoryReport";
import type { CurveOrigin, MeasuredCurve } from "../history/curveChoice";
import type { DepthCurve } from "../prefill/depthCurve";
import type { Prediction } from "../prefill/prediction";
import type { SecondQuestion } from "../prefill/secondQuestion";
import type { Provenance } from "../provenance";
import type { Text } from "../text";
import type { PackTemplate } from "../tokens/pack";
import type { TokenCount } from "../tokens/tokenCount";
import type { BesideServer } from "./besideServer";
import type { TryableOptions } from "./tryableOptions";
import type { Wait } from "./wait";

export interface ModelSummary {
  readonly name: string;
  readonly architecture?: string;
  readonly contextLength?: number;
  readonly parameters?: number;
  readonly weightsBytes?: number;
  readonly provenance: Provenance;
}

/** The setup a report is about; with it a figure still says later what it is a figure of. */
export interface ReportSubject {
  /** Path of the model's file, else its name on the server; absent where no model is known. */
  readonly model?: string;
  /** llama-server's options, as they were given or as the running server has them. */
  readonly options: LaunchOptions;
  /** Of the running server. */
  readonly build?: string;
  /** UTC, `2026-11-29`. */
  readonly day: string;
}

/** slow: it works, but the first token comes later than the user would wait. */
export type VerdictKind = "fits" | "slow" | "tight" | "exceedsContext" | "exceedsMemory" | "unknown";

/** The answer in one sentence, and what to do next where it is not "fits". */
export interface Verdict {
  readonly kind: VerdictKind;
  readonly sentence: Text;
  readonly reasons: readonly Text[];
  readonly remedies: readonly Text[];
}

/** The one object every surface draws. Immutable; a newer revision replaces it. */
export interface GaugeReport {
  readonly revision: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly scope: { readonly label: string; readonly roots: readonly string[] };
  readonly of: ReportSubject;
  readonly tokens: TokenCount;
  readonly server: Known<ServerFacts>;
  readonly model: Known<ModelSummary>;
  /** A model that was named although the server has loaded another one: nothing here is about it. */
  readonly otherModel?: string;
  readonly acceptance: AcceptanceReport;
  readonly memory: Known<MemoryReport>;
  /** What too little memory means beside the server that runs; absent where there is nothing to reconcile. */
  readonly beside?: BesideServer;
  readonly prefill: Prediction;
  /** Everything from sending to the last token, and who would not wait for it. */
  readonly wait: Wait;
  /** The measured curve that `prefill` comes from. */
  readonly curve?: DepthCurve;
  /** Which run that was, and what the watch said; absent for a curve that was named. */
  readonly origin?: CurveOrigin;
  /** Everything this model was measured with, one curve for each set of flags: for `curveWith`. */
  readonly curves?: readonly MeasuredCurve[];
  /** Another question about the same text; absent where model or curve are not known. */
  readonly second?: SecondQuestion;
  /** What the prompt was held against. */
  readonly limit: Known<RequestLimit>;
  /** How files become the prompt. */
  readonly pack: PackTemplate | "raw";
  /** Which chat template was counted; absent where none was. */
  readonly template?: TemplateOrigin;
  /** What counting the prompt left open; among the reasons of `acceptance`, too. */
  readonly notes: readonly Text[];
  /** What can be tried with `whatIf`; absent where nothing can. */
  readonly knobs?: TryableOptions;
  /** Paths of files that are counted but not in the prompt. */
  readonly leftOut?: readonly string[];
  readonly verdict: Verdict;
}
