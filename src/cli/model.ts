import { formatBytes, formatNumber, formatText } from "../core/format";
import { describeModel, type ModelDescription } from "../core/model/describeModel";
import { ggufModelSource } from "../node/gguf/ggufModelSource";
import type { CliCommand } from "./command";
import { namedModel, theModel } from "./launch";
import { printJson, printLines } from "./output";

export const addModel: CliCommand = (program, context) => {
  program
    .command("model")
    .description("layers, heads, tokenizer and sizes of a GGUF; a file or an http(s) URL")
    .argument("[model]", "M.gguf or URL; or name it as for llama-server: -hf owner/name, -mu URL")
    .option("--json", "one JSON document on stdout")
    .action(async (named: string | undefined, options: { json?: true }) => {
      const locator = theModel(await namedModel(named, context));
      const model = describeModel(await ggufModelSource().readHeader(locator, context.signal));
      if (options.json) printJson(model);
      else printLines(describe(model));
    });
};

function describe(model: ModelDescription): string[] {
  const kinds = new Map<string, number>();
  for (const { kind } of model.layers) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  return [
    `${model.name ?? "(no name)"} · ${model.architecture}`,
    `${formatNumber(model.parameters / 1e9, "en", 2)} B parameters · weights ${formatBytes(model.weightsBytes)}`,
    `trained for ${formatNumber(model.contextLength)} tokens of context`,
    `${model.layers.length} layers: ${Array.from(kinds, ([kind, layers]) => `${layers} ${kind}`).join(", ")}`,
    `tokenizer ${model.tokenizer.model ?? "none"} (${model.tokenizer.pre ?? "no pre-tokenizer"}), ${formatNumber(model.tokenizer.size)} tokens`,
    ...model.warnings.map((warning) => `warning: ${formatText(warning.message)}`),
  ];
}
