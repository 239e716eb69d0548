import { formatNumber, formatSeconds, formatText } from "../core/format";
import type { Tokenizer } from "../core/tokens/tokenizer";
import { crashRiskRemedy, crashRiskText, riskyFiles } from "../core/report/crashRisk";
import { count, say, type Text } from "../core/text";
import { countFiles } from "../core/tokens/countFiles";
import { isExact, type TokenCount } from "../core/tokens/tokenCount";
import type { Caches } from "../app/caches";
import { connected, findServer } from "../app/runningServer";
import { chooseTokenizer } from "../app/tokenizerChoice";
import type { ConnectedServer } from "../core/report/situation";
import { UserError } from "../core/userError";
import { workspaceFiles } from "../node/files/workspaceFiles";
import { namedModel, namedServer } from "./launch";
import type { CliCommand } from "./command";
import { openCaches } from "./kept";
import { endProgress, printJson, printLines, printProgress, table } from "./output";
import { existing, walkOptions, withWalkOptions, type WalkFlags } from "./walkFlags";

interface CountOptions extends WalkFlags {
  readonly model?: string;
  readonly server?: string;
  readonly cache: boolean;
  readonly json?: true;
}

export const addCount: CliCommand = (program, context) => {
  const { signal } = context;
  withWalkOptions(
    program
      .command("count")
      .description("tokens by file; exact with a server or a model, otherwise estimated")
      .argument("<path...>", "files and folders")
      .option(
        "--model <file>",
        "count with the vocabulary of this GGUF; with --server, only if that server agrees",
      )
      .option("--server <url>", "count with this llama-server"),
  )
    .option("--no-cache", "count everything again")
    .option("--json", "one JSON document on stdout")
    .action(async (paths: string[], options: CountOptions) => {
      const roots = await existing(paths);
      const caches = openCaches();
      const tokenizer = await countingTokenizer(options, caches, context);
      const { fingerprint } = tokenizer;
      const cache =
        fingerprint === undefined || !options.cache ? undefined : await caches.counts(fingerprint);
      const counted = await countFiles(
        { files: workspaceFiles(), tokenizer, clock: Date, ...(cache && { cache }) },
        { roots, options: walkOptions(options) },
        ({ filesDone, filesFound, tokens }) =>
          printProgress(() =>
            formatText(say`${count(filesDone)} of ${count(filesFound)} file[s], ${count(tokens)} token[s]`),
          ),
        signal,
      );
      endProgress();
      await cache?.flush();
      if (options.json) printJson(countJson(counted));
      else printLines(countLines(counted));
    });
};

/** As every other command and the editor choose it; a model that is named must be readable. */
export async function countingTokenizer(
  { server: url, model: own }: Pick<CountOptions, "server" | "model">,
  caches: Caches,
  context: Parameters<typeof namedModel>[1],
): Promise<Tokenizer> {
  const { signal } = context;
  const model = await namedModel(own, context);
  const server = url === undefined ? undefined : await serverAt(url, signal);
  const { tokenizer, vocabulary } = await chooseTokenizer(
    { server, modelFile: model, openVocabulary: (file, its) => caches.vocabulary(file, its) },
    signal,
  );
  if (model !== undefined && vocabulary?.known === false) {
    throw new UserError(vocabulary.reason ?? "invalidInput", vocabulary.why, vocabulary.remedy);
  }
  return tokenizer;
}

async function serverAt(url: string, signal: AbortSignal): Promise<ConnectedServer> {
  const { server } = await findServer({ server: namedServer(url), launch: {}, programs: "none" }, signal);
  return connected(server);
}

/** The contract of `count --json`. */
export function countJson({ tokens, tokenizer, files, skipped, seconds, notes }: TokenCount): object {
  return {
    tokens,
    exact: isExact(tokenizer),
    tokenizer,
    files: files.map(({ file, tokens, mark, longRun }) => ({
      path: file.label,
      tokens,
      bytes: file.bytes,
      ...(mark && { mark: mark.kind }),
      ...(longRun && { longRun }),
    })),
    skipped: skipped.map(({ label, reason, folder, detail }) => ({
      path: label,
      reason,
      folder,
      ...(detail !== undefined && { detail }),
    })),
    notes,
    warnings: crashWarnings({ tokens: { files } }),
    seconds,
  };
}

/** What to know before the text is sent. */
export function crashWarnings(report: Parameters<typeof riskyFiles>[0]): readonly Text[] {
  const risky = riskyFiles(report).map(crashRiskText);
  return risky.length === 0 ? [] : [...risky, crashRiskRemedy];
}

function countLines({ tokens, tokenizer, files, skipped, seconds, notes }: TokenCount): string[] {
  const spread = tokenizer.relativeError;
  return [
    ...table(
      files
        .toSorted((a, b) => b.tokens - a.tokens)
        .slice(0, 20)
        .map(({ file, tokens }) => [formatNumber(tokens), file.label]),
    ),
    ...(files.length > 20 ? [formatText(say`… and ${count(files.length - 20)} more file[s]`)] : []),
    "",
    `${spread === undefined ? "" : "≈ "}${formatText(say`${count(tokens)} token[s] in ${count(files.length)} file[s]`)}, ` +
      (spread === undefined
        ? `exact for ${tokenizer.model} (${tokenizer.source})`
        : `estimated, ±${formatNumber(spread * 100)} %: specify --model or --server for exact counts`),
    `${formatNumber(skipped.length)} skipped, ${formatSeconds(seconds)}`,
    ...notes.map((note) => formatText(note)),
    ...crashWarnings({ tokens: { files } }).map((warning) => `! ${formatText(warning)}`),
  ];
}
