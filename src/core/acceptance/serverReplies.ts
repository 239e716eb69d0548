import type { SlotFacts } from "./serverFacts";
import { given } from "../given";
import { Wire } from "../wire";

/** `/props` of a server with one model, or of one model behind a router. */
export interface Props {
  readonly nCtxPerSlot: number;
  readonly totalSlots: number;
  readonly build?: string;
  readonly modelAlias?: string;
  readonly modelPath?: string;
  readonly sleeping: boolean;
  readonly hasVision: boolean;
}

const modelStatuses = ["unloaded", "loading", "loaded", "sleeping", "downloading"] as const;

export type ModelStatus = (typeof modelStatuses)[number];

/** One entry of `/v1/models`. */
export interface ServedModel {
  readonly id: string;
  readonly aliases: readonly string[];
  /** Only a router says it. */
  readonly status?: ModelStatus;
  /** The last attempt to load it failed. */
  readonly failed: boolean;
  /** A router's command line for the model, without the program: what it would be loaded with. */
  readonly args?: readonly string[];
  readonly nCtxTrain?: number;
  readonly parameters?: number;
  readonly weightsBytes?: number;
  readonly embeddingLength?: number;
  readonly vocabularySize?: number;
}

/** True where `/props` is a router's own: it serves many models and has no context itself. */
export function isRouter(body: unknown): boolean {
  return typeof body === "object" && body !== null && "role" in body && body.role === "router";
}

/** True where the reply has what every llama-server's `/props` has. */
export function looksLikeProps(body: unknown): boolean {
  return typeof body === "object" && body !== null && "default_generation_settings" in body;
}

export function readProps(body: unknown): Props {
  const props = new Wire(body, "/props");
  const text = (key: string): string | undefined => props.at(key).optional((value) => value.text());
  return given({
    nCtxPerSlot: props.at("default_generation_settings").at("n_ctx").count(1),
    totalSlots: props.at("total_slots").count(1),
    build: text("build_info"),
    modelAlias: text("model_alias"),
    modelPath: text("model_path"),
    sleeping: props.at("is_sleeping").optional((value) => value.boolean()) ?? false,
    hasVision:
      props.at("modalities").optional((value) => value.at("vision").optional((vision) => vision.boolean())) ??
      false,
  });
}

export function readSlots(body: unknown): readonly SlotFacts[] {
  return new Wire(body, "/slots").items().map((slot) =>
    given({
      id: slot.at("id").count(0),
      nCtx: slot.at("n_ctx").count(1),
      busy: slot.at("is_processing").boolean(),
      tokens: slotTokens(slot),
    }),
  );
}

/** Builds differ in whether `n_prompt_tokens` has the answer in it: take the larger reading. */
function slotTokens(slot: Wire): number | undefined {
  const counted = (from: Wire, key: string): number => from.at(key).optional((value) => value.count(0)) ?? 0;
  if (slot.at("n_prompt_tokens").absent) return undefined;
  const next = slot.at("next_token");
  const answer = next.absent ? undefined : next.items()[0];
  const done = counted(slot, "n_prompt_tokens_cache") + counted(slot, "n_prompt_tokens_processed");
  return Math.max(
    counted(slot, "n_prompt_tokens"),
    done + (answer === undefined ? 0 : counted(answer, "n_decoded")),
  );
}

export function readModels(body: unknown): readonly ServedModel[] {
  return new Wire(body, "/v1/models").at("data").items().map(readModel);
}

function readModel(model: Wire): ServedModel {
  const meta = model.at("meta");
  const metaCount = (key: string): number | undefined =>
    meta.absent ? undefined : meta.at(key).optional((value) => value.count(0));
  const status = model.at("status");
  return given({
    id: model.at("id").text(),
    aliases: model.at("aliases").optional((value) => value.items().map((alias) => alias.text())) ?? [],
    status: status.absent ? undefined : status.at("value").oneOf(modelStatuses),
    failed: status.absent ? false : (status.at("failed").optional((value) => value.boolean()) ?? false),
    args: status.absent
      ? undefined
      : status.at("args").optional((value) =>
          value
            .items()
            .slice(1)
            .map((arg) => arg.longText()),
        ),
    nCtxTrain: metaCount("n_ctx_train") ?? model.at("context_length").optional((value) => value.count(0)),
    parameters: metaCount("n_params"),
    weightsBytes: metaCount("size"),
    embeddingLength: metaCount("n_embd"),
    vocabularySize: metaCount("n_vocab"),
  });
}

/** Token ids of `/tokenize`; -1 stands where the request had it. */
export function readTokens(body: unknown): readonly number[] {
  return new Wire(body, "/tokenize").at("tokens").is(areNumbers, "an array of token ids");
}

const areNumbers = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((id) => Number.isSafeInteger(id));

export function readPrompt(body: unknown): string {
  return new Wire(body, "/apply-template").at("prompt").longText();
}

export interface ServerError {
  readonly type: string;
  readonly message: string;
}

/** `{"error":{"message","type"}}` as llama-server writes it; undefined for anything else. */
export function readServerError(body: unknown): ServerError | undefined {
  return new Wire(body, "error").ifFits((reply) => ({
    type:
      reply
        .at("error")
        .at("type")
        .optional((value) => value.text()) ?? "",
    message: reply.at("error").at("message").text(),
  }));
}
