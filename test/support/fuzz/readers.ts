import { ledgerOf } from "../../../src/core/conversation/ledger";
import { formatText } from "../../../src/core/format";
import { parsePlan } from "../../../src/core/ladder/plan/parsePlan";
import { explainLog } from "../../../src/core/logs/explainLog";
import { logReport } from "../../../src/core/logs/logReport";
import { memoryBudget } from "../../../src/core/memory/budget/memoryBudget";
import { describeModel } from "../../../src/core/model/describeModel";
import { skimGguf } from "../../../src/core/model/ggufSkim";
import { modelOf } from "../../../src/core/model/modelOf";
import { lintBytes } from "../../../src/core/preset/lintBytes";
import { readPreset } from "../../../src/core/preset/presetModels";
import { checkCommands } from "../../../src/core/scripts/commandReport";
import { scriptCommands } from "../../../src/core/scripts/scriptCommands";
import type { ScriptLanguage } from "../../../src/core/scripts/scriptLanguages";
import { parseHeader } from "../../../src/node/gguf/ggufParse";
import { parseTemplate, runTemplate } from "../../../src/node/template/boundedJinja";

/** Inputs read to their end: to what a surface draws. */

/** From bytes to a budget, as the command line goes. */
export async function readHeaderBytes(bytes: Uint8Array): Promise<void> {
  const skim = skimGguf(bytes, "x.gguf");
  if (skim.kind === "more") return;
  const part = await parseHeader(skim.header, "x.gguf");
  const { dataEnd, ...rest } = part;
  const header = { locator: "x.gguf", fileBytes: dataEnd, ...rest };
  describeModel(header);
  const launch = { ctxSize: 4096, overrideTensor: [{ pattern: "(a+)+$", buffer: "CPU" }] };
  memoryBudget(modelOf(header), launch, [{ name: "CUDA0", freeBytes: 8 * 2 ** 30 }]);
}

export function readLogText(text: string): void {
  for (const { heading, lines } of logReport(explainLog(text)))
    [heading, ...lines].forEach((line) => formatText(line));
  ledgerOf(text);
}

export function readPresetBytes(bytes: Buffer): void {
  lintBytes(bytes);
  readPreset(bytes.toString("utf8"));
}

export function readScriptText(text: string, language: ScriptLanguage): void {
  const script = scriptCommands(text, language);
  for (const { remarks } of script === undefined ? [] : checkCommands(script.commands))
    remarks.forEach(({ message }) => formatText(message));
}

export const readPlanText = (text: string): void => void parsePlan(text);

/** As the thread renders it; what a template raises is told in its words. */
export function renderTemplate(source: string): void {
  const program = heard(() => parseTemplate(source));
  const messages = [{ role: "user", content: "Hi" }];
  if (program !== undefined) heard(() => runTemplate(program, { messages, bos_token: "<s>" }));
}

/** An error is an answer here, but no other thing that is thrown, and none of the machine's. */
function heard<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}
