import { countFiles } from "../core/tokens/countFiles";
import { defaultPackTemplate, packText, rawText } from "../core/tokens/pack";
import { workspaceFiles } from "../node/files/workspaceFiles";
import type { CliCommand } from "./command";
import { countingTokenizer } from "./count";
import { openCaches } from "./kept";
import { printJson, printText } from "./output";
import { existing, walkOptions, withWalkOptions, type WalkFlags } from "./walkFlags";

interface PackFlags extends WalkFlags {
  readonly model?: string;
  readonly server?: string;
  readonly raw?: true;
  readonly json?: true;
}

export const addPack: CliCommand = (program, context) => {
  const { signal } = context;
  withWalkOptions(
    program
      .command("pack")
      .description("the packed prompt on stdout, exactly as `check` counts it")
      .argument("<path...>", "files and folders")
      .option("--model <file>", "skip what counting with this GGUF would skip")
      .option("--server <url>", "skip what counting with this llama-server would skip")
      .option("--raw", "only the text, without headings and fences"),
  )
    .option("--json", "one JSON document on stdout")
    .action(async (paths: string[], flags: PackFlags) => {
      const roots = await existing(paths);
      const tokenizer = await countingTokenizer(flags, openCaches(), context);
      const files = workspaceFiles();
      const counted = await countFiles(
        { files, tokenizer, clock: Date },
        { roots, options: walkOptions(flags) },
        () => undefined,
        signal,
      );
      const sent = counted.files.map(({ file }) => file);
      const pieces: string[] = [];
      const text = flags.raw
        ? rawText(sent, files, signal)
        : packText(sent, defaultPackTemplate, files, signal);
      for await (const piece of text) pieces.push(piece);
      const prompt = pieces.join("");
      if (flags.json) printJson({ prompt, files: sent.map(({ label }) => label) });
      else printText(prompt);
    });
};
