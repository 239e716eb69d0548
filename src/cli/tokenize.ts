import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { say } from "../core/text";
import { UserError } from "../core/userError";
import type { CliCommand } from "./command";
import { printJson, printLines } from "./output";
import { openVocabulary } from "./vocabulary";

interface TokenizeFlags {
  readonly model: string;
  readonly ids?: true;
  readonly addSpecial?: true;
  readonly parseSpecial?: true;
  readonly json?: true;
}

export const addTokenize: CliCommand = (program, { signal }) => {
  program
    .command("tokenize")
    .description("tokens of a file's bytes exactly as they are, with the vocabulary of a GGUF")
    .argument("[file]", "standard input if omitted")
    .requiredOption("--model <file>", "the GGUF")
    .option("--ids", "also print the token ids")
    .option("--add-special", "add BOS and EOS as the model specifies")
    .option("--parse-special", "treat the text of special tokens as those tokens")
    .option("--json", "one JSON document on stdout")
    .action(async (file: string | undefined, flags: TokenizeFlags) => {
      const input = await bytesOf(file);
      const tokenizer = await openVocabulary(flags.model, signal);
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

async function bytesOf(file: string | undefined): Promise<Uint8Array> {
  if (file === undefined) return buffer(process.stdin);
  try {
    return await readFile(file);
  } catch (cause) {
    throw new UserError("notFound", say`${file} cannot be read.`, say`Specify an existing file.`, { cause });
  }
}
