import type { LlamaServer, ServerFacts } from "../acceptance/serverFacts";
import type { CurveOrigin, MeasuredCurve } from "../history/curveChoice";
import type { Known } from "../known";
import type { LaunchOptions } from "../launch/launchOptions";
import type { Budgets } from "../memory/budget/budgets";
import type { MemoryReport } from "../memory/budget/memoryReport";
import type { ServerMemory } from "../memory/devices/liveMemory";
import type { Model } from "../model/model";
import type { CountCache } from "../tokens/keptCount";
import type { Tokenizer } from "../tokens/tokenizer";
import type { DepthCurve } from "../prefill/depthCurve";
import type { Text } from "../text";
import type { GaugeReport } from "./gaugeReport";
import type { TemplateChoice } from "./promptCount";

export interface ConnectedServer {
  readonly server: LlamaServer;
  readonly facts: ServerFacts;
}

/** What is known of the user's setup; what is missing says why, and never blocks the rest. */
export interface Situation {
  readonly server: Known<ConnectedServer>;
  /** Counts everything that is sent: chosen once, from server, vocabulary or neither. */
  readonly tokenizer: Tokenizer;
  /** Counts of this tokenizer that were kept; opened when it is first asked for. */
  readonly counts?: () => Promise<CountCache>;
  /** Path or http(s) address of the model's file. */
  readonly modelFile: Known<string>;
  readonly model: Known<Model>;
  /** The chat template llama-server would use, rendered without it; absent where no model's header is known. */
  readonly template?: (signal: AbortSignal) => Promise<TemplateChoice>;
  /** How the server was or would be started. */
  readonly launch: LaunchOptions;
  /** A model that was named although the server has loaded another one. */
  readonly otherModel?: string;
  /** What the running server does otherwise than its command line, or the user, says. */
  readonly launchNotes: readonly Text[];
  readonly memory: Known<MemoryReport>;
  /** What the running server's process holds; measured only where `memory` finds too little. */
  readonly held?: ServerMemory;
  /** The same for other launch options. */
  readonly budgets?: Budgets;
  readonly curve: Known<DepthCurve>;
  /** What is to be said about a curve that was named. */
  readonly curveNotes?: readonly Text[];
  /** Where the curve comes from, where it was remembered. */
  readonly origin?: CurveOrigin;
  /** Everything the model was measured with. */
  readonly curves?: readonly MeasuredCurve[];
  /** What was measured with other launch options. */
  readonly curveOf?: (launch: LaunchOptions) => Known<DepthCurve>;
}

/** A report and what it was made from. */
export interface Estimated {
  readonly report: GaugeReport;
  readonly situation: Situation;
}
