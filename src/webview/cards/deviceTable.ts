import type { TemplateResult } from "lit";
import type { DeviceBudget, MemoryVerdict } from "../../core/memory/budget/memoryReport";
import { shownVerdict, type BesideServer } from "../../core/report/besideServer";
import { bytes, say, type Text } from "../../core/text";
import { devicePartBytes, othersBytes } from "../charts/deviceLayout";
import { dataTable, type Cell } from "./parts";
import type { View } from "../view/view";

/** The bars' figures; columns only for what there is. */
export function deviceTable(
  view: View,
  devices: readonly DeviceBudget[],
  beside: BesideServer | undefined,
): TemplateResult {
  const shown = columns.filter(({ always, of }) => always || devices.some((device) => (of(device) ?? 0) > 0));
  const judged = devices.some(({ verdict }) => verdict !== undefined);
  return dataTable(
    view,
    say`Memory by device`,
    [
      { title: say`Device` },
      ...shown.map(({ title }) => ({ title, figures: true })),
      ...(judged ? [{ title: say`Verdict` }] : []),
    ],
    devices.map((device) => [
      device.name,
      ...shown.map(({ of }) => size(of(device))),
      ...(judged ? [verdicts[shownVerdict(device.verdict ?? "unknown", beside)]] : []),
    ]),
  );
}

interface DeviceColumn {
  readonly title: Text;
  readonly always: boolean;
  readonly of: (device: DeviceBudget) => number | undefined;
}

const columns: readonly DeviceColumn[] = [
  { title: say`Weights`, always: true, of: (device) => device.modelBytes },
  { title: say`KV`, always: true, of: (device) => devicePartBytes(device).kv },
  { title: say`State`, always: false, of: (device) => devicePartBytes(device).state },
  { title: say`Compute`, always: true, of: (device) => device.computeBytes },
  { title: say`Draft and projector`, always: false, of: (device) => devicePartBytes(device).other },
  { title: say`Total`, always: true, of: (device) => device.totalBytes },
  { title: say`at least`, always: false, of: ({ interval }) => interval?.lowBytes },
  { title: say`at most`, always: false, of: ({ interval }) => interval?.highBytes },
  { title: say`Free`, always: true, of: (device) => device.freeBytes },
  { title: say`To keep free`, always: false, of: (device) => device.marginBytes },
  { title: say`Other programs`, always: false, of: othersBytes },
];

const size = (value: number | undefined): Cell => (value === undefined ? "–" : say`${bytes(value)}`);

const verdicts: Record<MemoryVerdict, Text> = {
  fits: say`fits`,
  tight: say`tight`,
  exceeds: say`does not fit`,
  unknown: say`free unknown`,
};
