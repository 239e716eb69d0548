import type { ServerModel } from "../acceptance/serverFacts";
import type { Model } from "../model/model";

/**
 * Whether a file is the model a server has loaded. proven: what the server reports is what the file's header says;
 * named: it reports too little, and the names are the same; other: a figure or, without figures, the name differs.
 */
export type ModelIdentity = "proven" | "named" | "other";

/**
 * `/v1/models` counts elements and bytes of all tensors in the file, as the header lists them. The three lengths are
 * asked only where it does not: `--override-kv` may change them, and thousands of models share them.
 */
export function identityOf(
  { path, model }: { readonly path: string; readonly model: Model },
  served: ServerModel,
): ModelIdentity {
  const { tensors, contextLength, embeddingLength, vocabularySize } = model;
  const sizes = compared([
    [served.parameters, tensors.parameters],
    [served.weightsBytes, tensors.totalBytes],
  ]);
  if (sizes.length > 0) return sizes.every(Boolean) ? "proven" : "other";
  const lengths = compared([
    [served.nCtxTrain, contextLength],
    [served.embeddingLength, embeddingLength],
    [served.vocabularySize, vocabularySize],
  ]);
  if (!lengths.every(Boolean)) return "other";
  const name = nameOf(path);
  return [served.path, served.id].some((its) => its !== undefined && nameOf(its) === name)
    ? "named"
    : "other";
}

/** Whether both say the same, for each figure that both know. */
const compared = (
  figures: readonly (readonly [theirs: number | undefined, ours: number])[],
): readonly boolean[] =>
  figures.filter(([theirs = 0, ours]) => theirs > 0 && ours > 0).map(([theirs, ours]) => theirs === ours);

const nameOf = (path: string): string => (path.split(/[\\/]/).at(-1) ?? path).replace(/\.gguf$/i, "");
