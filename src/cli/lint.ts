import { existsSync } from "node:fs";
import path from "node:path";
import { formatText } from "../core/format";
import type { ModelFacts } from "../core/launch/launchRules";
import { modelOf } from "../core/model/modelOf";
import type { Finding } from "../core/preset/finding";
import { lintBytes } from "../core/preset/lintBytes";
import { readPreset } from "../core/preset/presetModels";
import { modelFacts } from "../core/preset/sectionCost";
import { UserError } from "../core/userError";
import { readGgufHeader } from "../node/ggufModelSource";
import type { CliCommand } from "./command";
import { exitCode, printJson, printLines } from "./output";
import { bytesOf } from "./textFile";

export const addLint: CliCommand = (program, context) => {
  program
    .command("lint")
    .description("what is wrong with a models preset (--models-preset), as llama-server sees it")
    .argument("<file>", "FILE.ini")
    .option("--json", "one JSON document on stdout")
    .action(async (file: string, options: { json?: true }) => {
      const bytes = await bytesOf(file);
      const folder = path.dirname(file);
      const models = await readModels(new TextDecoder().decode(bytes), folder, context.signal);
      const findings = lintBytes(bytes, {
        fileExists: (name) => fileExists(name, folder),
        modelFacts: (name) => models.get(name),
      });
      if (options.json) printJson({ findings });
      else printLines(findings.map((finding) => findingLine(file, finding)));
      if (findings.some(({ severity }) => severity === "error")) context.finish(exitCode.no);
    });
};

/** Relative paths start from the server's folder, which nobody knows here: only that one is there tells. */
function fileExists(name: string, folder: string): boolean | undefined {
  const found = existsSync(path.resolve(folder, name));
  return found || path.isAbsolute(name) ? found : undefined;
}

/** Facts of the models that lie on this machine, by the names the preset gives them. */
async function readModels(
  text: string,
  folder: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ModelFacts>> {
  const names = new Set(readPreset(text).models.flatMap(({ options }) => options.model ?? []));
  const facts = new Map<string, ModelFacts>();
  for (const name of names) {
    if (name === "" || name.includes("\0") || fileExists(name, folder) !== true) continue;
    try {
      facts.set(name, modelFacts(modelOf(await readGgufHeader(path.resolve(folder, name), signal))));
    } catch (error) {
      // what is no model says nothing; llama-server will say it
      if (!(error instanceof UserError)) throw error;
    }
  }
  return facts;
}

const findingLine = (file: string, { line, column, severity, code, message }: Finding): string =>
  `${file}:${line}:${column}: ${severity} ${code}: ${formatText(message)}`;
