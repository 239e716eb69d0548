import { startGuarded } from "../process/guardedProcess";
import type { GuardedProcess } from "../process/guardedProcess";
import { largest } from "../../core/lists";

export interface GpuUse {
  readonly gpu: number;
  readonly pid: number;
  readonly name: string;
  /** Share of the time in which kernels of this process ran, 0 to 1. */
  readonly share: number;
}

/** A line of `nvidia-smi pmon -s u`: `gpu pid type sm mem enc dec … command`; `-` stands for none. */
export function parsePmon(line: string): GpuUse | undefined {
  const fields = line.trim().split(/\s+/);
  const [gpu = "", pid = "", , sm = ""] = fields;
  if (!/^\d+$/.test(gpu) || !/^\d+$/.test(pid)) return undefined;
  const share = /^\d+$/.test(sm) ? Number(sm) / 100 : 0;
  return { gpu: Number(gpu), pid: Number(pid), name: fields.at(-1) ?? "", share };
}

/** Use of NVIDIA GPUs by process, from one `nvidia-smi` for the whole watch. Says nothing where there is none. */
export class NvidiaUse {
  readonly #process: GuardedProcess;
  readonly #seen = new Map<string, GpuUse & { readonly at: number }>();
  #answers = false;

  constructor(intervalSeconds: number) {
    const seconds = String(Math.max(1, Math.round(intervalSeconds)));
    this.#process = startGuarded("nvidia-smi", ["pmon", "-s", "u", "-d", seconds], (from, line) => {
      if (from === "stderr") return;
      if (line.startsWith("#")) this.#answers = true;
      const use = parsePmon(line);
      if (use !== undefined) this.#seen.set(`${use.gpu} ${use.pid}`, { ...use, at: performance.now() });
    });
    void this.#process.ended.then(() => (this.#answers = false));
  }

  /** Share that others than these took of the busiest GPU; undefined where nobody can tell. */
  foreign(measured: readonly number[]): number | undefined {
    if (!this.#answers) return undefined;
    const recent = [...this.#seen.values()].filter((use) => performance.now() - use.at < 5000);
    const byGpu = new Map<number, number>();
    for (const { gpu, pid, share } of recent) {
      if (!measured.includes(pid)) byGpu.set(gpu, (byGpu.get(gpu) ?? 0) + share);
    }
    return Math.min(1, largest(byGpu.values(), 0));
  }

  close(): void {
    this.#process.kill();
  }
}
