import path from "node:path";
import type { ServerFacts } from "../core/acceptance/serverFacts";
import { known, knownOr, unknown, type Known } from "../core/known";
import { identityOf, type ModelIdentity } from "../core/servers/modelIdentity";
import type { GgufHeader } from "../core/model/ggufHeader";
import type { Model } from "../core/model/model";
import { modelOf } from "../core/model/modelOf";
import { localModelPath } from "../core/servers/localModelPath";
import { say, type Text } from "../core/text";
import { readGgufHeader } from "../node/gguf/ggufModelSource";
import { isThere } from "../node/reading/isThere";

export interface ModelAt {
  readonly model: Model;
  /** Or an http(s) address. */
  readonly path: string;
  readonly header: GgufHeader;
}

/** Reads the header of a GGUF: a file, or an http(s) address. */
export type ReadHeader = (file: string, signal: AbortSignal) => Promise<GgufHeader>;

/** The model an estimate is about. */
export interface ChosenModel {
  readonly file: Known<string>;
  readonly read: Known<ModelAt>;
  /** A file that was named although the server has loaded another model: nothing of it is used. */
  readonly other?: string;
  /** How sure it is that the file is the server's model; absent without a server. */
  readonly identity?: Exclude<ModelIdentity, "other">;
}

/**
 * While a server answers, the model is the one it has loaded: its own file where that lies on this machine, else the named
 * file if it is the same model. Without a server it is the named file.
 */
export async function chooseModel(
  named: string | undefined,
  facts: ServerFacts | undefined,
  signal: AbortSignal,
  readHeader: ReadHeader = readGgufHeader,
): Promise<ChosenModel> {
  const fileAt: FileAt = async (file) => ({
    file: known(file),
    read: await knownOr(readModel(file, readHeader, signal)),
  });
  if (facts === undefined) return named === undefined ? missing(noneChosen) : fileAt(named);
  const own = await ownFile(facts, fileAt);
  if (named === undefined) return own ?? missing(notHere);
  if (own !== undefined && path.resolve(facts.model.path ?? "") === path.resolve(named)) return own;
  const chosen = await fileAt(named);
  const identity = chosen.read.known ? identityOf(chosen.read.value, facts.model) : "other";
  // a copy of it, or another file of the same name
  if (own !== undefined) return { ...own, ...(identity !== "proven" && { other: named }) };
  return identity === "other" ? { ...missing(notHere), other: named } : { ...chosen, identity };
}

/** The server's own file, read and compared: a file that came in its place is not what the server holds. */
async function ownFile(facts: ServerFacts, fileAt: FileAt): Promise<ChosenModel | undefined> {
  const file = localModelPath(facts);
  if (file === undefined || !(await isThere(file))) return undefined;
  const chosen = await fileAt(file);
  const identity = chosen.read.known ? identityOf(chosen.read.value, facts.model) : "named";
  return identity === "other" ? missing(replaced(file)) : { ...chosen, identity: "proven" };
}

type FileAt = (file: string) => Promise<ChosenModel>;

async function readModel(file: string, readHeader: ReadHeader, signal: AbortSignal): Promise<ModelAt> {
  const header = await readHeader(file, signal);
  return { path: file, model: modelOf(header), header };
}

const missing = (why: Known<never>): ChosenModel => ({ file: why, read: why });

const noneChosen = unknown(say`No model is selected.`, say`Choose a model file (llamaGauge.model).`);

const notHere = unknown(
  say`The server's model file is not on this machine.`,
  say`Choose the same model here (llamaGauge.model).`,
);

const replaced = (file: string): Known<never> =>
  unknown(
    say`The server has loaded another model than the one that is in ${shortName(file)} now.`,
    say`Restart the server to load it.`,
  );

/** The choice once the server returned other tokens than the file's vocabulary has: a name alone proves nothing then. */
export function withoutNamed(chosen: ChosenModel): ChosenModel {
  if (chosen.identity !== "named" || !chosen.file.known) return chosen;
  return { ...missing(notHere), other: chosen.file.value };
}

/** In one line, with the choice there is. */
export function otherModelText(named: string, { model }: ServerFacts): Text {
  const asked = shortName(named);
  return say`llama-server has loaded ${shortName(model.path ?? model.id)}, not ${asked}, so everything here is about the model it has loaded. To estimate for ${asked}, stop that server or choose another.`;
}

const shortName = (file: string): string => file.split(/[\\/]/).at(-1) ?? file;
