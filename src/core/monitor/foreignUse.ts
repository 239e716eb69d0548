import { largest } from "../lists";
import { median } from "../median";
import { percent, say, type Text } from "../text";
import type { ForeignUse, MonitorReport, MonitorSample, ProcessShare } from "./monitorSample";

const mostNamed = 3;
/** Of the machine on average: less is not worth a name. */
const leastNamed = 0.005;

/** What others used while something was measured; undefined where nobody could tell. */
export function foreignUse(during: readonly MonitorSample[], device: "cpu" | "gpu"): ForeignUse | undefined {
  const seen = during.flatMap((sample) => {
    const share = device === "cpu" ? sample.foreignCpu : sample.foreignGpu;
    const busiest =
      device === "cpu"
        ? (sample.busiest ?? []).map(({ pid, name, cpu }) => ({ pid, name, share: cpu }))
        : (sample.gpuBusiest ?? []);
    return share === undefined ? [] : [{ share, busiest }];
  });
  if (seen.length === 0) return undefined;
  const total = new Map<string, ProcessShare>();
  for (const { pid, name, share } of seen.flatMap(({ busiest }) => busiest)) {
    const key = `${pid} ${name}`;
    total.set(key, { pid, name, share: (total.get(key)?.share ?? 0) + share / seen.length });
  }
  const who = [...total.values()]
    .filter(({ share }) => share >= leastNamed)
    .sort((p, q) => q.share - p.share)
    .slice(0, mostNamed);
  return {
    median: median(seen.map(({ share }) => share)),
    max: largest(seen.map(({ share }) => share)),
    who,
  };
}

/** What others used, in words: by device, median and maximum, and who most of it. */
export function foreignUseTexts({ cpu, gpu }: Pick<MonitorReport, "cpu" | "gpu">): readonly Text[] {
  return [
    ...(cpu === undefined
      ? []
      : [useText(say`Others used ${share(cpu.median)} of the CPU (at most ${share(cpu.max)})`, cpu)]),
    ...(gpu === undefined
      ? []
      : [useText(say`Others used ${share(gpu.median)} of the GPU (at most ${share(gpu.max)})`, gpu)]),
  ];
}

const share = (part: number) => percent(100 * part);

function useText(what: Text, { who }: ForeignUse): Text {
  if (who.length === 0) return say`${what}.`;
  const names = who.map(({ pid, name, share: part }) =>
    pid === 0 ? say`${name} ${share(part)}` : say`${name} (${String(pid)}) ${share(part)}`,
  );
  const [first = say``, ...rest] = names;
  return say`${what}: ${rest.reduce((all, one) => say`${all}, ${one}`, first)}.`;
}
