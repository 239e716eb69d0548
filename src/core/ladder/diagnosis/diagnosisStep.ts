import { say } from "../../text";
import type { Text } from "../../text";
import type { CauseText, ChangingCause, Variable } from "../../causes/cause";

/** "Why does my long context fail?": what is known so far; read from server, log and history, or answered. */
export interface DiagnosisFacts {
  readonly symptom?: Symptom;
  /** `n_ctx` of one slot, as the server reports it. */
  readonly nCtxPerSlot?: number;
  /** `-c` as it was asked for. */
  readonly requestedContext?: number;
  readonly slots?: number;
  readonly unified?: boolean;
  readonly contextShift?: boolean;
  readonly trainingContext?: number;
  /** RoPE scaling (YaRN, linear) is on. */
  readonly ropeScaled?: boolean;
  /** Tokens of the prompt that failed. */
  readonly promptTokens?: number;
  /** The last thing the log says went wrong. */
  readonly logSays?: "outOfMemory" | "contextExceeded" | "fitReduced" | "otherError" | "nothing";
  /** Every device when it failed or was fullest. */
  readonly devices?: readonly {
    readonly name: string;
    readonly freeBytes: number;
    readonly totalBytes?: number;
  }[];
  /** Free right after loading, on the fullest device. */
  readonly freeAfterLoadBytes?: number;
  /** Whether it fails at about the same token count every time. */
  readonly sameTokenCount?: boolean;
  readonly prefillSeconds?: number;
  readonly patienceSeconds?: number;
  /** Speed of the first tokens over the speed at the depth in question. */
  readonly slowdown?: number;
  /** Part of the layers runs on the CPU. */
  readonly offloaded?: boolean;
  /** Another program used the machine. */
  readonly disturbed?: boolean;
  /** Recall of a short prompt and of the long one, 0 to 1. */
  readonly recallShort?: number;
  readonly recallLong?: number;
  readonly kvQuantised?: boolean;
  /** Facts are lost in the middle but not at the ends. */
  readonly lostInMiddle?: boolean;
}

export type Symptom =
  "failsAtLoad" | "failsAtLength" | "refused" | "slow" | "forgets" | "sometimes" | "stopsEarly";

export type FactName = Exclude<keyof DiagnosisFacts, "devices">;

export type DiagnosisStep =
  | {
      readonly kind: "ask";
      readonly fact: FactName;
      readonly question: Text;
      readonly choices: readonly { readonly value: string | boolean; readonly label: Text }[];
      /** The fact is a number, not a choice. */
      readonly number?: "tokens" | "seconds" | "share" | "bytes";
    }
  | Conclusion;

export interface Conclusion {
  readonly kind: "conclusion";
  readonly cause: DiagnosisCause;
  /** The one thing to change. */
  readonly change: Variable;
  readonly sentence: CauseText;
  readonly evidence: readonly Text[];
  readonly actions: readonly CauseText[];
}

export type DiagnosisCause =
  | "contextDivided"
  | "contextReduced"
  | "contextTooSmall"
  | "contextShifted"
  | "weightsFill"
  | "cacheFills"
  | "oneDeviceFull"
  | "cacheOrBackend"
  | "answerRoom"
  | "attentionCost"
  | "offload"
  | "otherLoad"
  | "beyondTraining"
  | "quantisedCache"
  | "modelForgets"
  | "modelWeak"
  | "noMargin"
  | "unclear";

/** What the catalogue says about a cause, with what shows that it is this one. */
export const concluded = (
  { id, change, sentence, remedies }: ChangingCause<DiagnosisCause>,
  ...evidence: readonly Text[]
): Conclusion => ({ kind: "conclusion", cause: id, change, sentence, evidence, actions: remedies });

export const yesNo = [
  { value: true, label: say`Yes` },
  { value: false, label: say`No` },
] as const;
