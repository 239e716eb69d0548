import type { ProcessUse, SystemSnapshot } from "../../core/monitor/systemSnapshot";
import { startPowerShell } from "../process/dialogue";

/**
 * One line of JSON per reading, from one PowerShell for the whole watch: starting it costs more than all readings. The
 * CIM classes have the same names in every language, unlike performance counters.
 */
const script = `
$ErrorActionPreference = 'SilentlyContinue'
while ($null -ne [Console]::In.ReadLine()) {
  $p = Get-CimInstance Win32_Process -Property ProcessId,ParentProcessId,Name,KernelModeTime,UserModeTime |
    ForEach-Object { "$($_.ProcessId) $($_.ParentProcessId) $([uint64]$_.KernelModeTime + [uint64]$_.UserModeTime) $($_.Name)" }
  $o = Get-CimInstance Win32_OperatingSystem -Property FreePhysicalMemory
  $b = Get-CimInstance Win32_Battery -Property BatteryStatus
  $g = Get-CimInstance Win32_PerfFormattedData_GPUPerformanceCounters_GPUEngine -Property Name,UtilizationPercentage |
    Where-Object { $_.UtilizationPercentage -gt 0 } | ForEach-Object { "$($_.Name) $($_.UtilizationPercentage)" }
  @{ processes = @($p); freeKiB = $o.FreePhysicalMemory; battery = $b.BatteryStatus; gpu = @($g) } | ConvertTo-Json -Compress
}`;

/** Milliseconds; a PowerShell that was just started on a busy machine takes many seconds. */
const patience = 60_000;

/** Readings of a Windows machine; `close` ends its PowerShell. */
export class WindowsSystem {
  readonly #shell = startPowerShell(script, patience);

  async snapshot(measured: readonly number[]): Promise<SystemSnapshot> {
    const line = await this.#shell.ask("");
    const at = Date.now() / 1000;
    return line === undefined ? { at, processes: [] } : parseWindowsReading(line, at, measured);
  }

  close(): void {
    this.#shell.close();
  }
}

/** Times are in units of 100 ns. GPU engines are named `pid_1234_luid_…_engtype_3D`. */
export function parseWindowsReading(line: string, at: number, measured: readonly number[]): SystemSnapshot {
  let reading: { processes?: unknown; freeKiB?: unknown; battery?: unknown; gpu?: unknown };
  try {
    reading = JSON.parse(line) as typeof reading;
  } catch {
    return { at, processes: [] };
  }
  const processes = strings(reading.processes).flatMap((entry): ProcessUse[] => {
    const match = /^(\d+) (\d+) (\d+) (.+)$/.exec(entry);
    if (match === null || match[1] === "0") return [];
    return [
      {
        pid: Number(match[1]),
        parent: Number(match[2]),
        cpuSeconds: Number(match[3]) / 1e7,
        name: (match[4] ?? "").replace(/\.exe$/i, ""),
      },
    ];
  });
  const names = new Map(processes.map(({ pid, name }) => [pid, name]));
  const shares = new Map<number, number>();
  for (const entry of strings(reading.gpu)) {
    const [, pid, share] = /^pid_(\d+)_.* (\d+)$/.exec(entry) ?? [];
    if (pid === undefined || measured.includes(Number(pid))) continue;
    shares.set(Number(pid), (shares.get(Number(pid)) ?? 0) + Number(share) / 100);
  }
  const gpuBusiest = Array.from(shares, ([pid, share]) => ({ pid, name: names.get(pid) ?? "?", share }));
  const foreign = gpuBusiest.reduce((sum, { share }) => sum + share, 0);
  return {
    at,
    processes,
    ...(reading.gpu !== undefined && { foreignGpu: Math.min(1, foreign), gpuBusiest }),
    ...(typeof reading.freeKiB === "number" && { freeMemoryBytes: reading.freeKiB * 1024 }),
    // 1: discharging, 4 and 5: low and critical
    ...(typeof reading.battery === "number" && { onBattery: [1, 4, 5].includes(reading.battery) }),
  };
}

function strings(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((entry): entry is string => typeof entry === "string");
}
