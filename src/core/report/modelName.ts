import type { ModelSummary } from "./gaugeReport";

/** A model's name for people: a server without an alias names its model by the file's path. */
export function modelName({ name, quantisation }: ModelSummary): string {
  const file = name.split(/[\\/]/).at(-1) ?? name;
  const short = /\.gguf$/i.test(file) ? file.slice(0, -".gguf".length) : name;
  return quantisation === undefined || short.includes(quantisation) ? short : `${short} ${quantisation}`;
}
