import { Wire } from "../wire";
import { say } from "../text";
import { UserError } from "../userError";

/** A model of llama-swap's `/running`. */
export interface SwapModel {
  readonly id: string;
  /** "ready" where it can be asked. */
  readonly state: string;
}

/** The reply of llama-swap's `/running`; undefined where it is not one. */
export function readSwapRunning(body: unknown): readonly SwapModel[] | undefined {
  const models = new Wire(body, "/running").ifFits((reply) => reply.at("running").items());
  return models?.flatMap((model) => {
    const id = model.ifFits((its) => its.at("model").longText()) ?? "";
    const state = model.ifFits((its) => its.at("state").longText()) ?? "ready";
    return id !== "" && id.length < 1000 ? [{ id, state }] : [];
  });
}

/** The running model that is meant: the one asked for, else the only one. Nothing is loaded for a question. */
export function chooseSwapModel(
  url: string,
  running: readonly SwapModel[],
  wanted: string | undefined,
): SwapModel {
  const ready = running.filter(({ state }) => state === "ready");
  const [only, second] = wanted === undefined ? ready : ready.filter(({ id }) => id === wanted);
  if (only !== undefined && second === undefined) return only;
  if (ready.length > 1) {
    throw new UserError(
      "invalidInput",
      say`llama-swap at ${url} has several models running.`,
      say`Choose the intended model: ${ready
        .slice(0, 10)
        .map(({ id }) => id)
        .join(", ")}.`,
    );
  }
  throw new UserError(
    "loading",
    say`llama-swap at ${url} has no such model running, and Llama Gauge does not load models without being asked.`,
    say`Load it there (any request to it does that), then estimate again.`,
  );
}
