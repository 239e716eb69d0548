import type { ServerFacts, SlotFacts, LlamaServer } from "../../core/acceptance/serverFacts";
import {
  isRouter,
  looksLikeProps,
  readModels,
  readPrompt,
  readProps,
  readSlots,
  type ServedModel,
} from "../../core/acceptance/serverReplies";
import type { Tokenizer } from "../../core/tokens/tokenizer";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { serverAddress } from "../../core/servers/serverAddress";
import { LlamaServerConnection } from "./llamaServerConnection";
import { asleep, notLlamaServer, readReply } from "./llamaServerErrors";
import { modelOfRouter } from "./llamaServerRouter";
import { LlamaServerTokenizer, SleepingTokenizer } from "./llamaServerTokenizer";

export interface LlamaServerOptions {
  /** As typed: `127.0.0.1:9931`, `http://host:8080/v1`, … */
  readonly url: string;
  readonly apiKey?: string;
  /** Which of a router's models is meant; its id or an alias. */
  readonly model?: string;
  /** Seconds a question may take (not: counting, which has as long as its text needs); default 10. */
  readonly askSeconds?: number;
}

/** `/slots` waits for the batch that is being computed; a busy server is no reason to fail. */
const slotsSeconds = 3;

/** A running llama-server, single or router, over HTTP. Fails with `UserError`; never loads or wakes a model. */
export class HttpLlamaServer implements LlamaServer {
  readonly url: string;
  readonly #connection: LlamaServerConnection;
  readonly #wanted: string | undefined;
  readonly #askSeconds: number;
  /** What the last `facts` found out about whom to ask, and whether asking would wake a model. */
  #seen: { readonly routerModel?: string; readonly sleeping: boolean } = { sleeping: false };

  constructor(options: LlamaServerOptions) {
    this.url = serverAddress(options.url);
    this.#connection = new LlamaServerConnection(this.url, options.apiKey);
    this.#wanted = options.model;
    this.#askSeconds = options.askSeconds ?? 10;
  }

  async facts(signal: AbortSignal): Promise<ServerFacts> {
    const body = await this.#props("/props", signal);
    if (!isRouter(body)) return this.#factsOf(body, "single", "", undefined, signal);
    const model = modelOfRouter(this.url, await this.models(signal), this.#wanted);
    const query = `?model=${encodeURIComponent(model.id)}&autoload=false`;
    return this.#factsOf(await this.#props(`/props${query}`, signal), "router", query, model, signal);
  }

  /** What the server serves, without loading or waking anything: one model, or a router's list with the state of each. */
  models(signal: AbortSignal): Promise<readonly ServedModel[]> {
    return this.#connection.ask({ path: "/v1/models", timeoutSeconds: this.#askSeconds }, readModels, signal);
  }

  tokenizer(facts: ServerFacts): Tokenizer {
    const identity = { source: "server", model: facts.model.id } as const;
    if (facts.sleeping) return new SleepingTokenizer(identity, this.url);
    const model = facts.role === "router" ? { model: facts.model.id } : {};
    return new LlamaServerTokenizer(this.#connection, { identity, ...model });
  }

  /** Asks the model of the last `facts`. */
  async applyTemplate(userMessage: string, signal: AbortSignal): Promise<string> {
    const { routerModel, sleeping } = this.#seen;
    if (sleeping) throw asleep(this.url);
    const bytes = Buffer.byteLength(userMessage);
    return this.#connection.ask(
      {
        path: routerModel === undefined ? "/apply-template" : "/apply-template?autoload=false",
        body: {
          messages: [{ role: "user", content: userMessage }],
          ...(routerModel !== undefined && { model: routerModel }),
        },
        timeoutSeconds: this.#askSeconds + bytes / 1_000_000,
        maxBytes: 2 ** 20 + 8 * bytes,
      },
      readPrompt,
      signal,
    );
  }

  async #props(path: string, signal: AbortSignal): Promise<unknown> {
    const reply = await this.#connection.reply({ path, timeoutSeconds: this.#askSeconds }, signal);
    if (reply.status !== 200) throw this.#connection.failed(reply, path);
    if (isRouter(reply.body) || looksLikeProps(reply.body)) return reply.body;
    throw notLlamaServer(this.url, say`its /props has no settings in it`);
  }

  async #factsOf(
    body: unknown,
    role: ServerFacts["role"],
    query: string,
    chosen: ServedModel | undefined,
    signal: AbortSignal,
  ): Promise<ServerFacts> {
    const props = readReply(this.url, body, readProps);
    const [slots, listed] = await Promise.all([
      props.sleeping ? undefined : this.#slots(query, signal),
      chosen ?? this.models(signal).then(([first]) => first),
    ]);
    this.#seen = { sleeping: props.sleeping, ...(chosen && { routerModel: chosen.id }) };
    const id = listed?.id ?? props.modelAlias ?? props.modelPath ?? "";
    const { nCtxTrain, parameters, weightsBytes, embeddingLength, vocabularySize } = listed ?? {};
    return {
      url: this.url,
      ...(props.build !== undefined && { build: props.build }),
      role,
      model: {
        id,
        ...(props.modelPath !== undefined && { path: props.modelPath }),
        ...(nCtxTrain !== undefined && { nCtxTrain }),
        ...(parameters !== undefined && { parameters }),
        ...(weightsBytes !== undefined && { weightsBytes }),
        ...(embeddingLength !== undefined && { embeddingLength }),
        ...(vocabularySize !== undefined && { vocabularySize }),
      },
      nCtxPerSlot: props.nCtxPerSlot,
      totalSlots: props.totalSlots,
      ...(slots !== undefined && { slots }),
      sleeping: props.sleeping,
      hasVision: props.hasVision,
      ...(listed?.args !== undefined && { args: listed.args }),
    };
  }

  /** undefined where the server does not tell (`--no-slots` answers 501) or is too busy to. */
  async #slots(query: string, signal: AbortSignal): Promise<readonly SlotFacts[] | undefined> {
    const call = { path: `/slots${query}`, timeoutSeconds: slotsSeconds };
    try {
      const reply = await this.#connection.reply(call, signal);
      return reply.status === 200 ? readReply(this.url, reply.body, readSlots) : undefined;
    } catch (cause) {
      if (cause instanceof UserError && cause.reason === "timeout") return undefined;
      throw cause;
    }
  }
}
