import { readFile } from "node:fs/promises";
import type { ServerFacts } from "../../core/acceptance/serverFacts";
import type { LadderConditions } from "../../core/ladder/score/record";
import { localModelPath } from "../../core/servers/localModelPath";
import { readGgufHead } from "../gguf/modelFinderQuantisation";
import { measureMemory } from "../machine/measureMemory";
import { runTool } from "../process/runTool";
import type { ServerProcess } from "./ladderSetup";

/**
 * What a reader of the report needs beside the options, as far as it can be seen: it is shown, and never compared to
 * tell one setup from another. A server on another machine tells nothing of it.
 */
export async function conditionsOf(
  facts: ServerFacts,
  { local, pid, process: found }: ServerProcess,
  signal: AbortSignal,
): Promise<LadderConditions> {
  const [quantisation, backends, devices, driver] = await Promise.all([
    quantisationOf(facts),
    pid === undefined ? undefined : backendsOf(pid),
    local ? devicesOf(signal) : undefined,
    local ? nvidiaDriver(signal) : undefined,
  ]);
  const options = found?.options;
  const known = (value: string | number | undefined, otherwise: string): string | undefined =>
    options === undefined ? undefined : String(value ?? otherwise);
  const fields: Readonly<Record<string, string | undefined>> = {
    "KV cache type K": known(options?.cacheTypeK, "f16 (default)"),
    "KV cache type V": known(options?.cacheTypeV, "f16 (default)"),
    "flash attention": known(options?.flashAttn, "auto (default)"),
    threads: known(options?.threads, "default"),
    quantisation,
    backend: backends,
    GPU: devices,
    "GPU driver": driver,
  };
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value ?? "unknown"]));
}

async function quantisationOf(facts: ServerFacts): Promise<string | undefined> {
  const file = localModelPath(facts);
  if (file === undefined) return undefined;
  return (await readGgufHead(file).catch(() => undefined))?.quantisation;
}

/** The ggml backends that the process has loaded, by the names of their libraries (Linux). */
async function backendsOf(pid: number): Promise<string | undefined> {
  const maps = await readFile(`/proc/${pid}/maps`, "utf8").catch(() => "");
  const names = Array.from(maps.matchAll(/libggml-([a-z]+)[^/\s]*\.so/g), ([, name = ""]) => name);
  const backends = [...new Set(names)].filter((name) => name !== "base").toSorted();
  return backends.length === 0 ? undefined : backends.join(", ");
}

async function devicesOf(signal: AbortSignal): Promise<string | undefined> {
  const { devices, silent } = await measureMemory({}, signal);
  if (devices.length > 0) return devices.map(({ name, description }) => `${name} ${description}`).join(", ");
  return silent.length > 0 ? undefined : "none seen";
}

async function nvidiaDriver(signal: AbortSignal): Promise<string> {
  const query = ["--query-gpu=driver_version", "--format=csv,noheader"];
  const { stdout, exitCode } = await runTool("nvidia-smi", query, { milliseconds: 10_000 }, signal);
  const [version = ""] = stdout.trim().split(/\r?\n/);
  return exitCode === 0 && /^[\d.]+$/.test(version) ? `NVIDIA ${version}` : "the kernel's";
}
