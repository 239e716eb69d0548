import { readdir, readFile, readlink } from "node:fs/promises";
import path from "node:path";
import { byDevice, parseDrmUsage, type DrmClient } from "../../core/memory/devices/drmUsage";

/** Clients of graphics drivers by PCI address, those of one device summed up. */
export type DrmUse = ReadonlyMap<string, DrmClient>;

/** A process that starts to use a card is seen by then. */
const looksBetweenSearches = 12;

/**
 * What processes hold on graphics cards, as far as the kernel says and we may look into them. Most processes never open a
 * card, so that the others are remembered from one look to the next.
 */
export class DrmWatch {
  private pids: readonly string[] = [];
  private looks = 0;

  constructor(private readonly proc = "/proc") {}

  async of(pid: number): Promise<DrmUse> {
    return byDevice(await this.clients(String(pid)));
  }

  async all(): Promise<DrmUse> {
    const searches = this.looks++ % looksBetweenSearches === 0;
    const pids = searches
      ? (await readdir(this.proc).catch(() => [])).filter((name) => /^\d+$/.test(name))
      : this.pids;
    const found = new Map<string, readonly DrmClient[]>();
    for (const pid of pids) {
      const clients = await this.clients(pid);
      if (clients.length > 0) found.set(pid, clients);
    }
    this.pids = [...found.keys()];
    return byDevice([...found.values()].flat());
  }

  private async clients(pid: string): Promise<readonly DrmClient[]> {
    const folder = path.join(this.proc, pid);
    const files = await readdir(path.join(folder, "fd")).catch(() => []);
    const clients = await Promise.all(
      files.map(async (fd) => {
        const target = await readlink(path.join(folder, "fd", fd)).catch(() => "");
        if (!target.startsWith("/dev/dri/")) return undefined;
        const text = await readFile(path.join(folder, "fdinfo", fd), "utf8").catch(() => "");
        return parseDrmUsage(text);
      }),
    );
    return clients.filter((client) => client !== undefined);
  }
}
