import type { LaunchOptions, TensorOverride } from "../../launch/launchOptions";

/** Parts of a device's first incomplete layer that go elsewhere; of the layers after it always the experts. */
type Overflow = "experts" | "feedForward" | "gateAndDown" | "down";

/** What `-fit` gives one device: so many layers, the last of them without a part. */
export interface DeviceShare {
  readonly layers: number;
  readonly incomplete: number;
  readonly overflow: Overflow;
  /** Device the first incomplete layer's part goes to; undefined: the host. */
  readonly to: number | undefined;
}

export interface Fitting {
  /** Layers without blocks for multi-token prediction; the output is one more. */
  readonly layers: number;
  readonly experts: boolean;
  /** With all experts on the host there is room for everything else, over all devices. */
  readonly allButExpertsFit: boolean;
  /** Bytes each device may hold. */
  readonly targets: readonly number[];
  /** Bytes each device would hold. */
  readonly need: (shares: readonly DeviceShare[]) => readonly number[];
}

const nothing: DeviceShare = { layers: 0, incomplete: 0, overflow: "experts", to: undefined };

/**
 * Layers by device in llama.cpp's own order (common/fit.cpp, steps 3 and 4): from the back to the front as many as fit, of
 * a model with experts without these; then, from the front to the back, complete ones, and of one more layer a part.
 */
export function shareLayers(fitting: Fitting): readonly DeviceShare[] {
  const back = fillBackToFront(fitting);
  return fitting.experts && fitting.allButExpertsFit ? completeFrontToBack(fitting, back) : back;
}

interface Tried {
  readonly shares: readonly DeviceShare[];
  readonly need: readonly number[];
  /** First device with layers that lack their experts. */
  readonly dense: number;
}

function fillBackToFront(fitting: Fitting): readonly DeviceShare[] {
  const { layers, experts, targets, need } = fitting;
  const last = targets.length - 1;
  const tried = (shares: readonly DeviceShare[]): Tried => ({ shares, need: need(shares), dense: 0 });
  let now = tried(targets.map(() => nothing));
  for (let device = last; device >= 0; device--) {
    const unassigned = now.shares.reduce((left, share) => left - share.layers, layers + 1);
    if (unassigned === 0) continue;
    const whole = device === last ? 1 : 0;
    const all = { ...nothing, layers: unassigned, incomplete: experts ? unassigned - whole : 0 };
    now = falsePosition(
      now,
      tried(changed(now.shares, device, () => all)),
      targets,
      device,
      (share) => share.layers,
      (from, step) =>
        tried(
          changed(from.shares, device, (share) => {
            // the output is the last device's and cannot lack a part
            const output = device === last && share.incomplete === 0 ? 1 : 0;
            const incomplete = experts ? share.incomplete + step - output : 0;
            return { ...share, layers: share.layers + step, incomplete };
          }),
        ),
    );
  }
  return now.shares;
}

function completeFrontToBack(fitting: Fitting, back: readonly DeviceShare[]): readonly DeviceShare[] {
  const { targets, need } = fitting;
  const dense = back.findIndex(({ layers }) => layers > 0);
  if (dense < 0) return back;
  let now: Tried = { shares: back, need: need(back), dense };
  for (let device = 0; device <= now.dense && now.dense < targets.length; device++) {
    now = falsePosition(
      now,
      allMoved(fitting, now, device),
      targets,
      device,
      (share) => share.layers - share.incomplete,
      (from, step) => converted(fitting, from, device, step),
    );
    now = withPart(fitting, now, device);
  }
  return now.shares;
}

/**
 * The most layers `device` can have: guesses where the line from what fits to what does not meets the target, until the two
 * are one layer apart.
 */
function falsePosition(
  fits: Tried,
  tooMuch: Tried,
  targets: readonly number[],
  device: number,
  count: (share: DeviceShare) => number,
  more: (from: Tried, step: number) => Tried,
): Tried {
  const target = targets[device] ?? 0;
  const needed = ({ need }: Tried): number => need[device] ?? 0;
  const counted = ({ shares }: Tried): number => count(shares[device] ?? nothing);
  if (needed(tooMuch) <= target) return tooMuch;
  let [low, high] = [fits, tooMuch];
  for (let apart = counted(high) - counted(low); apart > 1; apart = counted(high) - counted(low)) {
    const room = needed(high) - needed(low);
    const wanted = room > 0 ? Math.trunc((apart * (target - needed(low))) / room) : apart - 1;
    const tried = more(low, Math.min(Math.max(wanted, 1), apart - 1));
    if (needed(tried) <= target) low = tried;
    else high = tried;
  }
  return low;
}

/** All layers that lack their experts, complete on `device`. */
function allMoved({ targets, need }: Fitting, { shares, dense }: Tried, device: number): Tried {
  const last = targets.length - 1;
  const mine = [...shares];
  for (let from = dense; from <= last; from++) {
    const share = mine[from] ?? nothing;
    const moved = from < last ? share.layers : share.layers - 1;
    mine[from] = { ...share, layers: share.layers - moved, incomplete: 0 };
    const own = mine[device] ?? nothing;
    mine[device] = { ...own, layers: own.layers + moved };
  }
  return { shares: mine, need: need(mine), dense: last };
}

/** So many of the layers that lack their experts, the foremost, complete on `device`. */
function converted(
  { targets, need }: Fitting,
  { shares, dense }: Tried,
  device: number,
  size: number,
): Tried {
  const mine = [...shares];
  let left = size;
  let from = dense;
  for (; from < targets.length; from++) {
    const share = mine[from] ?? nothing;
    const moved = Math.min(left, share.incomplete);
    mine[from] = { ...share, layers: share.layers - moved, incomplete: share.incomplete - moved };
    const own = mine[device] ?? nothing;
    mine[device] = { ...own, layers: own.layers + moved };
    left -= moved;
    if ((mine[from]?.incomplete ?? 0) > 0) break;
  }
  return { shares: mine, need: need(mine), dense: from };
}

/** One more layer of which the expert matrices that do not fit go to the next device, or to the host. */
function withPart({ targets, need }: Fitting, now: Tried, device: number): Tried {
  const last = targets.length - 1;
  const next = now.shares[now.dense] ?? nothing;
  if (next.incomplete === 0 || next.layers <= (device < last ? 0 : 1)) return now;
  const taken = changed(now.shares, now.dense, (share) => ({
    ...share,
    layers: share.layers - 1,
    incomplete: share.incomplete - 1,
  }));
  const dense = (taken[now.dense]?.incomplete ?? 0) === 0 ? now.dense + 1 : now.dense;
  const to = device < last ? device + 1 : undefined;
  const attempt = (overflow: Overflow): Tried | undefined => {
    const shares = changed(taken, device, (share) => ({
      layers: share.layers + 1,
      incomplete: share.incomplete + 1,
      overflow,
      to,
    }));
    const needed = need(shares);
    const room = (at: number): boolean => at > last || (needed[at] ?? 0) < (targets[at] ?? 0);
    return room(device) && room(device + 1) ? { shares, need: needed, dense } : undefined;
  };
  const some = attempt("gateAndDown");
  return some === undefined ? (attempt("feedForward") ?? now) : (attempt("down") ?? some);
}

const changed = (
  shares: readonly DeviceShare[],
  at: number,
  change: (share: DeviceShare) => DeviceShare,
): readonly DeviceShare[] => shares.map((share, i) => (i === at ? change(share) : share));

/** Options that say where weights go, in their short form: with one of them `-fit` moves nothing. */
export function placedByUser(options: LaunchOptions): readonly string[] {
  const { gpuLayers, tensorSplit, overrideTensor, cpuMoe, nCpuMoe, nCpuFfn } = options;
  const given: readonly (readonly [string, boolean])[] = [
    ["-ngl", typeof gpuLayers === "number" ? gpuLayers >= 0 : gpuLayers === "all"],
    ["-ts", tensorSplit !== undefined],
    ["-ot", (overrideTensor ?? []).length > 0],
    ["-cmoe", cpuMoe === true],
    ["-ncmoe", (nCpuMoe ?? 0) > 0],
    ["-ncffn", (nCpuFfn ?? 0) > 0],
  ];
  return given.filter(([, is]) => is).map(([flag]) => flag);
}

const overflowing: Record<Overflow, string> = {
  experts: "ffn_(up|down|gate_up|gate)_(ch|)exps",
  feedForward: "ffn_(gate|up|gate_up|down).*",
  gateAndDown: "ffn_(gate|gate_up|down).*",
  down: "ffn_down.*",
};

/** The options llama.cpp would go on with; patterns that say the same of several layers are one. */
export function optionsOf(
  options: LaunchOptions,
  shares: readonly DeviceShare[],
  layers: number,
  devices: readonly string[],
): LaunchOptions {
  const gpuLayers = shares.reduce((sum, share) => sum + share.layers, 0);
  const overrideTensor: TensorOverride[] = [];
  const onHost: number[] = [];
  let first = layers + 1 - gpuLayers;
  for (const { layers: own, incomplete, overflow, to } of shares) {
    first += own - incomplete;
    const alone = incomplete > 0 && overflow !== "experts";
    if (alone) {
      const buffer = to === undefined ? "CPU" : (devices[to] ?? "CPU");
      overrideTensor.push({ pattern: `blk\\.${first}\\.${overflowing[overflow]}`, buffer });
    }
    for (let layer = first + (alone ? 1 : 0); layer < first + incomplete; layer++) onHost.push(layer);
    first += incomplete;
  }
  if (onHost.length > 0) {
    const pattern = `blk\\.(?:${onHost.join("|")})\\.${overflowing.experts}`;
    overrideTensor.push({ pattern, buffer: "CPU" });
  }
  return {
    ...options,
    gpuLayers,
    ...(devices.length > 1 && { tensorSplit: shares.map((share) => share.layers) }),
    ...(overrideTensor.length > 0 && { overrideTensor }),
  };
}
