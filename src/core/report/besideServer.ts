import type { ServerFacts } from "../acceptance/serverFacts";
import { valueOf, type Known } from "../known";
import type { DeviceBudget, MemoryReport, MemoryVerdict } from "../memory/budget/memoryReport";
import { isHost } from "../memory/devices/memoryDevice";
import type { ServerMemory } from "../memory/devices/liveMemory";
import { isLocal } from "../servers/serverAddress";
import { bytes, say, type Text } from "../text";

/** What a calculation that finds too little memory means beside a server that runs. */
export interface BesideServer {
  /** exceeds is none of them: the server runs. Another machine's is not known here. */
  readonly verdict: "tight" | "unknown";
  readonly text: Text;
}

export interface BesideServerInputs {
  readonly server: Known<Pick<ServerFacts, "url">>;
  readonly memory: Known<MemoryReport>;
  /** What the server's process holds; absent where nobody can measure it. */
  readonly held?: ServerMemory;
}

/** Undefined where no server runs, or where there is nothing to reconcile. */
export function besideServer(inputs: BesideServerInputs): BesideServer | undefined {
  const { server, held } = inputs;
  const memory = valueOf(inputs.memory);
  if (!server.known || memory === undefined || !needsMore(memory.verdict)) return undefined;
  if (!isLocal(server.value.url)) {
    return {
      verdict: "unknown",
      text: say`llama-server runs on another machine, so its memory is not known here: the bars compare it with this machine.`,
    };
  }
  const device = memory.devices.find(({ name }) => name === memory.tightest?.device);
  return device === undefined ? undefined : { verdict: "tight", text: reconciled(device, held) };
}

const needsMore = (verdict: MemoryVerdict): boolean => verdict === "exceeds" || verdict === "tight";

/** How a verdict of the calculation is shown: nothing that runs exceeds. */
export function shownVerdict(verdict: MemoryVerdict, beside: BesideServer | undefined): MemoryVerdict {
  return beside !== undefined && needsMore(verdict) ? beside.verdict : verdict;
}

/** What is said of the device that decides. */
export const decidingText = (
  { tightest }: Pick<MemoryReport, "tightest">,
  beside: BesideServer | undefined,
): Text | undefined => beside?.text ?? tightest?.text;

function reconciled(device: DeviceBudget, held: ServerMemory | undefined): Text {
  const { name, totalBytes, freeBytes = 0, marginBytes = 0 } = device;
  const left = freeBytes - totalBytes;
  const measured = heldText(device, held);
  if (left >= 0) {
    const runs = say`llama-server runs; ${bytes(left)} of ${name} remains free beside it, less than the ${bytes(marginBytes)} to keep free`;
    return measured === undefined ? say`${runs}.` : say`${runs} (measured: ${measured}).`;
  }
  const runs = say`By calculation ${name} lacks ${bytes(-left)}, but llama-server runs`;
  const why = whyItRuns(device, held);
  return measured === undefined
    ? say`${runs}: ${why}.`
    : say`${runs} and its process holds ${measured}: ${why}.`;
}

/** Swapping starts with pages that nobody needs. */
const worthSaying = 64 * 2 ** 20;

function whyItRuns({ name, totalBytes, interval }: DeviceBudget, held: ServerMemory | undefined): Text {
  const least = interval?.lowBytes ?? totalBytes;
  if (!isHost({ name, freeBytes: 0 })) {
    const on = onDevice(name, held);
    if (on === undefined)
      return say`its driver may keep a part in host memory, or the calculation is too high`;
    return on < least
      ? say`its driver keeps the rest in host memory, or the calculation is too high`
      : say`so more was free than was calculated`;
  }
  if (held === undefined) return say`a part is mapped, swapped out or shared, or the calculation is too high`;
  const { residentBytes, swappedBytes = 0 } = held;
  if (swappedBytes >= worthSaying) return say`what is swapped out makes it slow`;
  if (residentBytes >= least) return say`so more was free than was calculated`;
  return say`the rest is mapped from the model's file and read again when it is needed, which is slow, or the calculation is too high`;
}

function heldText(device: DeviceBudget, held: ServerMemory | undefined): Text | undefined {
  if (held === undefined) return undefined;
  const { residentBytes, swappedBytes = 0 } = held;
  const host =
    swappedBytes >= worthSaying
      ? say`${bytes(residentBytes)} of host memory and ${bytes(swappedBytes)} in swap`
      : say`${bytes(residentBytes)} of host memory`;
  if (isHost({ name: device.name, freeBytes: 0 })) return host;
  const on = onDevice(device.name, held);
  return on === undefined ? host : say`${bytes(on)} of ${device.name} and ${host}`;
}

const onDevice = (name: string, held: ServerMemory | undefined): number | undefined =>
  held?.devices?.find((device) => device.name === name)?.bytes;
