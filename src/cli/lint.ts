import { existsSync } from "node:fs";
import path from "node:path";
import { formatText } from "../core/format";
import type { Finding } from "../core/preset/finding";
import { lint } from "../core/preset/lintPreset";
import type { CliCommand } from "./command";
import { exitCode, printJson, printLines } from "./output";
import { textOf } from "./textFile";

export const addLint: CliCommand = (program, context) => {
  program
    .command("lint")
    .description("what is wrong with a models preset (--models-preset), as llama-server sees it")
    .argument("<file>", "FILE.ini")
    .option("--json", "one JSON document on stdout")
    .action(async (file: string, options: { json?: true }) => {
      const findings = lint(await textOf(file), { fileExists: (name) => existsSync(path.resolve(name)) });
      if (options.json) printJson({ findings });
      else printLines(findings.map((finding) => findingLine(file, finding)));
      if (findings.some(({ severity }) => severity === "error")) context.finish(exitCode.no);
    });
};

const findingLine = (file: string, { line, column, severity, code, message }: Finding): string =>
  `${file}:${line}:${column}: ${severity} ${code}: ${formatText(message)}`;
