import { startGuarded } from "../process/guardedProcess";
import type { GuardedProcess } from "../process/guardedProcess";
import type { SystemSnapshot } from "../../core/monitor/systemSnapshot";

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
    this.#process.ended.then(() => (this.#answers = false)).catch(() => undefined);
  }

  /** What others than these took of the busiest GPU; undefined where nobody can tell. */
  foreign(measured: readonly number[]): Pick<SystemSnapshot, "foreignGpu" | "gpuBusiest"> | undefined {
    if (!this.#answers) return undefined;
    const recent = [...this.#seen.values()].filter((use) => performance.now() - use.at < 5000);
    const others = recent.filter(({ pid, share }) => share > 0 && !measured.includes(pid));
    const gpus = [...new Set(others.map(({ gpu }) => gpu))].map((gpu) => {
      const uses = others.filter((use) => use.gpu === gpu);
      return { uses, sum: uses.reduce((sum, { share }) => sum + share, 0) };
    });
    const [busiest] = gpus.toSorted((p, q) => q.sum - p.sum);
    return {
      foreignGpu: Math.min(1, busiest?.sum ?? 0),
      gpuBusiest: (busiest?.uses ?? []).map(({ pid, name, share }) => ({ pid, name, share })),
    };
  }

  close(): void {
    this.#process.kill();
  }
}
