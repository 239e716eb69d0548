import type { ServerMemory } from "../../core/memory/devices/liveMemory";
import { startPowerShell, type Dialogue } from "../process/dialogue";

/**
 * One line of JSON for each process that is asked for, from one PowerShell for the whole watch. CIM classes, unlike
 * performance counters, have the same names in every language; that of the GPU's memory is there from Windows 10 1709 on.
 */
const script = `
$ErrorActionPreference = 'SilentlyContinue'
while ($null -ne ($id = [Console]::In.ReadLine())) {
  $p = Get-Process -Id $id
  $g = Get-CimInstance Win32_PerfFormattedData_GPUPerformanceCounters_GPUProcessMemory -Property Name,DedicatedUsage |
    Where-Object { $_.Name -like "pid_$($id)_*" } | ForEach-Object { "$($_.Name) $($_.DedicatedUsage)" }
  @{ resident = $p.WorkingSet64; gpu = @($g) } | ConvertTo-Json -Compress
}`;

/** Milliseconds; a PowerShell that was just started takes seconds. */
const patience = 15_000;

/** Memory of a process on Windows; started at the first question. */
export class WindowsProcessMemory {
  private shell: Dialogue | undefined;

  async of(pid: number): Promise<ServerMemory | undefined> {
    this.shell ??= startPowerShell(script, patience);
    const line = await this.shell.ask(String(pid));
    if (line !== undefined) return parseProcessMemory(line, pid);
    this.close();
    return undefined;
  }

  close(): void {
    this.shell?.close();
    this.shell = undefined;
  }
}

/**
 * `{"resident":bytes,"gpu":["pid_1234_luid_0x…_phys_0 bytes"]}`. A GPU there is named by a number that no backend of
 * llama.cpp shows, so that all are one. undefined where the process is gone.
 */
export function parseProcessMemory(line: string, pid: number): ServerMemory | undefined {
  let reading: { resident?: unknown; gpu?: unknown };
  try {
    reading = JSON.parse(line) as typeof reading;
  } catch {
    return undefined;
  }
  if (typeof reading.resident !== "number") return undefined;
  const entries: readonly unknown[] = Array.isArray(reading.gpu) ? reading.gpu : [];
  const bytes = entries.reduce<number>((sum, entry) => {
    const match = typeof entry === "string" ? /^pid_(\d+)_.* (\d+)$/.exec(entry) : null;
    return match === null || Number(match[1]) !== pid ? sum : sum + Number(match[2]);
  }, 0);
  return {
    pid,
    residentBytes: reading.resident,
    ...(bytes > 0 && { devices: [{ name: "GPU", bytes }] }),
  };
}
