/** Memory one client of a graphics driver holds; bytes. */
export interface DrmClient {
  readonly driver: string;
  /** Address on the PCI bus, `0000:03:00.0`; empty where the device has none. */
  readonly device: string;
  /** The same in every duplicate of one file. */
  readonly id: string;
  /** The device's own memory. */
  readonly deviceBytes: number;
  /** Host memory the device works with. */
  readonly hostBytes: number;
}

const units: Readonly<Record<string, number>> = { "": 1, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** Memory on the card: `vram` (amdgpu), `vram0` (xe), `local0` (i915), and what they set apart of it. */
const onDevice = /^(vram|local|stolen-local)\d*$/;

/**
 * A file of `/proc/PID/fdinfo` as Linux' graphics drivers write it (Documentation/gpu/drm-usage-stats.rst): resident memory
 * by region, which older kernels call `drm-memory-`; where a driver says neither, the total. undefined for other files.
 */
export function parseDrmUsage(text: string): DrmClient | undefined {
  const values = new Map<string, string>();
  for (const line of text.split("\n")) {
    const match = /^(drm-[^:]+):\s*(.*?)\s*$/.exec(line);
    if (match?.[1] !== undefined) values.set(match[1], match[2] ?? "");
  }
  const driver = values.get("drm-driver");
  const id = values.get("drm-client-id");
  if (driver === undefined || id === undefined) return undefined;
  const regions = new Map<string, number>();
  for (const kind of ["total", "memory", "resident"]) {
    for (const [key, value] of values) {
      const prefix = `drm-${kind}-`;
      const region = key.startsWith(prefix) ? key.slice(prefix.length) : "";
      const size = sizeOf(value);
      // `drm-total-cycles-rcs` is a clock
      if (region !== "" && size !== undefined && !region.startsWith("cycles-")) regions.set(region, size);
    }
  }
  let deviceBytes = 0;
  let hostBytes = 0;
  for (const [region, size] of regions) {
    if (onDevice.test(region)) deviceBytes += size;
    else hostBytes += size;
  }
  return { driver, device: values.get("drm-pdev") ?? "", id, deviceBytes, hostBytes };
}

/** undefined for what is no size. */
function sizeOf(value: string): number | undefined {
  const match = /^(\d+)(?:\s+(B|KiB|MiB|GiB))?$/.exec(value);
  const unit = units[match?.[2] ?? ""];
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit;
}

/** Memory by device, every client once however many of its files are open. */
export function byDevice(clients: readonly DrmClient[]): ReadonlyMap<string, DrmClient> {
  const seen = new Map<string, DrmClient>();
  for (const client of clients) seen.set(`${client.device} ${client.id}`, client);
  const sums = new Map<string, DrmClient>();
  for (const client of seen.values()) {
    const sum = sums.get(client.device);
    sums.set(client.device, {
      ...client,
      deviceBytes: client.deviceBytes + (sum?.deviceBytes ?? 0),
      hostBytes: client.hostBytes + (sum?.hostBytes ?? 0),
    });
  }
  return sums;
}
