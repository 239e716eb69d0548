import { known, knownOr, type Known } from "../core/known";
import type { ConnectedServer, Situation } from "../core/report/situation";
import { calibrated, fingerprinted } from "../node/tokenizer/calibratedTokenizer";
import type { GgufTokenizer } from "../node/tokenizer/ggufTokenizer";
import { isThere } from "../node/waiting/isThere";
import type { LlamaServer } from "../core/acceptance/serverFacts";
import type { Tokenizer } from "../core/tokens/tokenizer";

export interface CalibrationSetup {
  /** A GGUF the user chose; absent: the running server's own file where it lies on this machine. */
  readonly modelPath?: string;
  readonly openVocabulary: (path: string, signal: AbortSignal) => Promise<GgufTokenizer>;
}

/**
 * Where a server is awake and its model's vocabulary can be read here: the vocabulary counts if the server agrees on a test
 * text. Else the server does, with a fingerprint under which its counts can be kept.
 */
export async function calibratedParts(
  parts: Situation,
  setup: CalibrationSetup,
  signal: AbortSignal,
): Promise<Situation> {
  if (!parts.server.known || parts.server.value.facts.sleeping) return parts;
  const { server, facts } = parts.server.value;
  const tokenizer = server.tokenizer(facts);
  const vocabulary = await vocabularyOf(setup, facts.model.path, signal);
  if (vocabulary?.known !== true) {
    return { ...parts, server: counting(parts.server.value, await fingerprinted(tokenizer, facts, signal)) };
  }
  const calibration = await calibrated(vocabulary.value, tokenizer, facts, signal);
  return calibration.kind === "same"
    ? { ...parts, vocabulary: known(calibration.tokenizer) }
    : { ...parts, server: counting(parts.server.value, calibration.tokenizer) };
}

async function vocabularyOf(
  { modelPath, openVocabulary }: CalibrationSetup,
  served: string | undefined,
  signal: AbortSignal,
): Promise<Known<GgufTokenizer> | undefined> {
  for (const path of [served, modelPath]) {
    if (path === undefined || !(await isThere(path))) continue;
    return knownOr(openVocabulary(path, signal));
  }
  return undefined;
}

function counting({ server, facts }: ConnectedServer, tokenizer: Tokenizer): Known<ConnectedServer> {
  const wrapped: LlamaServer = {
    url: server.url,
    facts: (signal) => server.facts(signal),
    tokenizer: () => tokenizer,
    applyTemplate: (message, signal) => server.applyTemplate(message, signal),
  };
  return known({ server: wrapped, facts });
}
