import type { ServerFacts } from "../../core/acceptance/serverFacts";
import type { LadderConditions } from "../../core/ladder/score/record";
import { localModelPath } from "../../core/servers/localModelPath";
import { readGgufHead } from "../gguf/modelFinderQuantisation";
import { loadedBackends } from "../machine/loadedBackends";
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
    pid === undefined ? undefined : loadedBackends(pid),
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
    backend: backends?.join(", "),
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
