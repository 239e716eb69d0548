import { buffer } from "node:stream/consumers";
import type { CliCommand } from "./command";
import { printJson, printLines } from "./output";
import { openVocabulary } from "./kept";
import { namedModel, theModel } from "./launch";
import { bytesOf } from "./textFile";

interface TokenizeFlags {
  readonly model?: string;
  readonly ids?: true;
  readonly addSpecial?: true;
  readonly parseSpecial?: true;
  readonly json?: true;
}

export const addTokenize: CliCommand = (program, context) => {
  const { signal } = context;
  program
    .command("tokenize")
    .description("tokens of a file's bytes exactly as they are, with the vocabulary of a GGUF")
    .argument("[file]", "standard input if omitted")
    .option("--model <file>", "the GGUF; or name it as for llama-server: -hf owner/name, -mu URL")
    .option("--ids", "also print the token ids")
    .option("--add-special", "add BOS and EOS as the model specifies")
    .option("--parse-special", "treat the text of special tokens as those tokens")
    .option("--json", "one JSON document on stdout")
    .action(async (file: string | undefined, flags: TokenizeFlags) => {
      const input = file === undefined ? await buffer(process.stdin) : await bytesOf(file, signal);
      const tokenizer = await openVocabulary(theModel(await namedModel(flags.model, context)), signal);
      try {
        const ids = await tokenizer.encode(
          input,
          { addSpecial: flags.addSpecial === true, parseSpecial: flags.parseSpecial === true },
          signal,
        );
        const listed = flags.ids === true ? Array.from(ids) : undefined;
        if (flags.json) printJson({ count: ids.length, ...(listed && { ids: listed }) });
        else printLines([String(ids.length), ...(listed ? [listed.join(" ")] : [])]);
      } finally {
        await tokenizer.close();
      }
    });
};
