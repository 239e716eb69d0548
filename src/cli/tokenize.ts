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
    .description("tokens of one file's bytes exactly as they are, in the vocabulary of a GGUF")
    .argument("[file]", "standard input where absent")
    .requiredOption("--model <file>", "the GGUF")
    .option("--ids", "the token ids, too")
    .option("--add-special", "with BOS and EOS as the model says")
    .option("--parse-special", "texts of special tokens become those tokens")
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
    throw new UserError("notFound", say`${file} cannot be read.`, say`Name an existing file.`, { cause });
  }
}
