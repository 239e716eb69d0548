import { createHash } from "node:crypto";
import path from "node:path";
import type { CountTexts } from "../../core/ladder/prompt/filler";
import { Filler, linesOf } from "../../core/ladder/prompt/filler";
import { fillerSentences } from "../../core/ladder/prompt/fillerText";
import type { LadderPlan } from "../../core/ladder/plan/plan";
import { targetOf } from "../../core/ladder/plan/plan";
import { count, say } from "../../core/text";
import { UserError } from "../../core/userError";
import { defaultWalkOptions, type FileRef } from "../../core/files/files";
import { workspaceFiles } from "../files/workspaceFiles";

/** Names of files whose content has no business in a prompt that is stored. */
const secretName =
  /^(\.env(\..*)?|.*\.(pem|key|p12|pfx|keystore|jks)|id_(rsa|dsa|ecdsa|ed25519)|\.npmrc|\.netrc|\.pgpass|credentials(\.json)?|secrets?\.(json|ya?ml|toml))$/i;
const secretText = /-----BEGIN [A-Z ]*PRIVATE KEY-----|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}\b/;
/** Fewer bytes than tokens cannot be: a text with less is too small before it is counted. */
const leastBytesPerToken = 1;

export interface FillerSource {
  /** A new beginning of the same text; each run takes it from its start. */
  open(run: number): Filler;
  readonly leftOut: number;
  /** Of a folder's text: another one makes other prompts. */
  readonly hash?: string;
}

/** The text between the canaries: the shipped one, or the files of a folder. */
export async function fillerOf(
  plan: LadderPlan,
  planFolder: string,
  countTexts: CountTexts,
  signal: AbortSignal,
): Promise<FillerSource> {
  const { filler, seed } = plan;
  if (filler.kind === "shipped") {
    return {
      leftOut: 0,
      open: (run) => new Filler(fillerSentences(seed, String(run)), countTexts, "shipped text"),
    };
  }
  const folder = path.resolve(planFolder, filler.folder);
  const { lines, bytes, leftOut } = await linesUnder(folder, signal);
  if (bytes < targetOf(plan) * leastBytesPerToken) {
    throw new UserError(
      "invalidInput",
      bytes === 0
        ? say`The filler ${filler.folder} has no text: ${count(leftOut)} file[s] [is|are] binary, secret, ignored or unreadable.`
        : say`The filler ${filler.folder} is too small: ${count(bytes)} byte[s] of text for ${count(targetOf(plan))} token[s].`,
      say`Specify a larger folder with text, use shorter rungs, or write filler: shipped.`,
    );
  }
  const hash = createHash("sha256");
  for (const line of lines) hash.update(line);
  return {
    leftOut,
    hash: hash.digest("hex").slice(0, 16),
    open: () => new Filler(lines, countTexts, filler.folder),
  };
}

async function linesUnder(
  folder: string,
  signal: AbortSignal,
): Promise<{ readonly lines: readonly string[]; readonly bytes: number; readonly leftOut: number }> {
  const files = workspaceFiles();
  const lines: string[] = [];
  let bytes = 0;
  let leftOut = 0;
  const found: FileRef[] = [];
  for await (const entry of files.list([folder], defaultWalkOptions, signal)) {
    if (entry.kind === "file" && !secretName.test(path.basename(entry.file.path))) found.push(entry.file);
    else leftOut++;
  }
  for (const file of found) {
    const read = await files.read(file, signal);
    if (read.kind === "skipped" || secretText.test(read.text)) {
      leftOut++;
      continue;
    }
    bytes += Buffer.byteLength(read.text);
    for (const line of linesOf(read.text)) lines.push(line);
  }
  return { lines, bytes, leftOut };
}
