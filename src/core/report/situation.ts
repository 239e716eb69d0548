import type { Clock } from "../clock";
import type { LlamaServer, ServerFacts } from "../acceptance/serverFacts";
import type { FileSource } from "../files/files";
import type { CurveOrigin, MeasuredCurve } from "../history/curveChoice";
import type { Known } from "../known";
import type { LaunchOptions } from "../launch/launchOptions";
import type { Budgets } from "../memory/budget/budgets";
import type { MemoryReport } from "../memory/budget/memoryReport";
import type { Model } from "../model/model";
import type { DepthCurve } from "../prefill/depthCurve";
import type { Text } from "../text";
import type { Tokenizer } from "../tokens/tokenizer";
import type { CountCache } from "../tokens/keptCount";

export interface ConnectedServer {
  readonly server: LlamaServer;
  readonly facts: ServerFacts;
}

/** What is known of the user's setup; what is missing says why, and never blocks the rest. */
export interface Situation {
  readonly files: FileSource;
  readonly clock: Clock;
  readonly server: Known<ConnectedServer>;
  /** Counts in the chosen model's own vocabulary; preferred to a server it was checked with. */
  readonly vocabulary: Known<Tokenizer>;
  readonly model: Known<Model>;
  /** How the server was or would be started. */
  readonly launch: LaunchOptions;
  /** What the running server does otherwise than its command line says. */
  readonly launchNotes?: readonly Text[];
  readonly memory: Known<MemoryReport>;
  /** The same for other launch options. */
  readonly budgets?: Budgets;
  readonly curve: Known<DepthCurve>;
  /** Where the curve comes from, where it was remembered. */
  readonly origin?: CurveOrigin;
  /** Everything the model was measured with. */
  readonly curves?: readonly MeasuredCurve[];
  /** What was measured with other launch options. */
  readonly curveOf?: (launch: LaunchOptions) => Known<DepthCurve>;
  /** Opens the counts that are kept for a tokenizer. */
  readonly countCache?: (fingerprint: string) => Promise<CountCache>;
}
