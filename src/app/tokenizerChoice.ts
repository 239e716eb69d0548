import { localModelPath } from "../core/servers/localModelPath";
import { setImmediate as turn } from "node:timers/promises";
import { knownOr, valueOf, type Known } from "../core/known";
import type { Tokenizer } from "../core/tokens/tokenizer";
import type { ConnectedServer } from "../core/report/situation";
import { assumedTokenizer } from "../core/tokens/estimateTokens";
import { calibrated, fingerprinted } from "../node/tokenizer/calibratedTokenizer";
import type { GgufTokenizer } from "../node/tokenizer/ggufTokenizer";
import { isThere } from "../node/reading/isThere";

/** Opens the vocabulary of a GGUF. */
export type OpenVocabulary = (file: string, signal: AbortSignal) => Promise<GgufTokenizer>;

export interface TokenizerSources {
  readonly server: ConnectedServer | undefined;
  /** A GGUF: the chosen one, else the server's own where it lies on this machine. */
  readonly modelFile: string | undefined;
  readonly openVocabulary: OpenVocabulary;
}

export interface TokenizerChoice {
  readonly tokenizer: Tokenizer;
  /** The vocabulary that was tried; absent where there was none to try. */
  readonly vocabulary?: Known<unknown>;
  /** The server returned other tokens for the test text than the vocabulary has: it is another model's. */
  readonly otherVocabulary?: true;
}

/**
 * The one choice of what counts. Where a server is awake: the model's vocabulary if that server agrees with it on a test
 * text, else the server, with a fingerprint under which its counts can be kept. Without one: the model's vocabulary, else
 * an assumption that says so.
 */
export async function chooseTokenizer(
  sources: TokenizerSources,
  signal: AbortSignal,
): Promise<TokenizerChoice> {
  const { server, modelFile, openVocabulary } = sources;
  if (server === undefined || server.facts.sleeping) {
    if (modelFile === undefined) return { tokenizer: assumed() };
    const vocabulary = await knownOr(openVocabulary(modelFile, signal));
    return { tokenizer: valueOf(vocabulary) ?? assumed(), vocabulary };
  }
  const { facts } = server;
  const counting = server.server.tokenizer(facts);
  const file = await firstThere([localModelPath(facts), modelFile]);
  const vocabulary = file === undefined ? undefined : await knownOr(openVocabulary(file, signal));
  if (vocabulary?.known !== true) {
    return { tokenizer: await fingerprinted(counting, facts, signal), ...(vocabulary && { vocabulary }) };
  }
  const { kind, tokenizer } = await calibrated(vocabulary.value, counting, facts, signal);
  return { tokenizer, vocabulary, ...(kind === "different" && { otherVocabulary: true }) };
}

/** Long counting without any vocabulary lets the rest of the program run. */
const assumed = (): Tokenizer => assumedTokenizer(() => turn());

async function firstThere(files: readonly (string | undefined)[]): Promise<string | undefined> {
  for (const file of files) if (file !== undefined && (await isThere(file))) return file;
  return undefined;
}
