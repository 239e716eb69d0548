import { createHash } from "node:crypto";
import type { ServerFacts } from "../../core/acceptance/serverFacts";
import type { Tokenizer } from "../../core/tokens/tokenizer";
import { probeText } from "../../core/tokens/probeText";
import { UserError } from "../../core/userError";
import type { GgufTokenizer } from "./ggufTokenizer";
import { LlamaServerTokenizer } from "../llamaServer/llamaServerTokenizer";
import type { TokenizeFlags } from "./tokenWorkerMessages";

/** Which of the two counts, and why the model's own vocabulary does not where it does not. */
export type Calibration =
  | { readonly kind: "same"; readonly tokenizer: Tokenizer }
  | { readonly kind: "different" | "unasked"; readonly tokenizer: Tokenizer };

const waysToAsk: readonly TokenizeFlags[] = [
  { addSpecial: true, parseSpecial: true },
  { addSpecial: false, parseSpecial: false },
];

/**
 * A text of about 2 KB is given to the server's `/tokenize` and to the vocabulary, with and without special tokens. The same
 * ids: the vocabulary counts from now on, without the server. Other ids (another model, a vocabulary edited at start, a
 * llama.cpp that reads it otherwise): the server counts.
 */
export async function calibrated(
  vocabulary: GgufTokenizer,
  server: Tokenizer,
  facts: ServerFacts,
  signal: AbortSignal,
): Promise<Calibration> {
  const served = await serverAnswers(server, signal);
  if (served === undefined) return { kind: "unasked", tokenizer: server };
  for (const [at, flags] of waysToAsk.entries()) {
    const own = await vocabulary.encode(probeText, flags, signal);
    const other = served[at] ?? [];
    if (own.length !== other.length || !own.every((id, i) => id === other[i])) {
      return { kind: "different", tokenizer: withFingerprint(server, served, facts) };
    }
  }
  const identity = { ...vocabulary.identity, checkedWith: facts.url };
  return {
    kind: "same",
    tokenizer: {
      identity,
      fingerprint: vocabulary.fingerprint,
      ends: vocabulary.ends,
      count: (texts, its) => vocabulary.count(texts, its),
      countPrompt: (prompt, its) => vocabulary.countPrompt(prompt, its),
      countPromptPieces: (pieces, its) => vocabulary.countPromptPieces(pieces, its),
      countFiles: (files, its) => vocabulary.countFiles(files, its),
    },
  };
}

/** The server's tokenizer with a fingerprint, so that its counts can be kept. */
export async function fingerprinted(
  server: Tokenizer,
  facts: ServerFacts,
  signal: AbortSignal,
): Promise<Tokenizer> {
  const served = await serverAnswers(server, signal);
  return served === undefined ? server : withFingerprint(server, served, facts);
}

type Answers = readonly (readonly number[])[];

/** Undefined where the server cannot be asked; counting will say why. */
async function serverAnswers(server: Tokenizer, signal: AbortSignal): Promise<Answers | undefined> {
  if (!(server instanceof LlamaServerTokenizer)) return undefined;
  try {
    return await Promise.all(waysToAsk.map((flags) => server.encode(probeText, flags, signal)));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

function withFingerprint(server: Tokenizer, answers: Answers, { model, build }: ServerFacts): Tokenizer {
  const told = [answers, build, model.id, model.path, model.parameters, model.weightsBytes];
  return {
    identity: server.identity,
    fingerprint: createHash("sha256").update(JSON.stringify(told)).digest("hex").slice(0, 32),
    count: (texts, signal) => server.count(texts, signal),
    countPrompt: (prompt, signal) => server.countPrompt(prompt, signal),
  };
}
