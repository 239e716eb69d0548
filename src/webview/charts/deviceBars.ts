import { html, nothing, svg, type SVGTemplateResult, type TemplateResult } from "lit";
import type { DeviceBudget } from "../../core/memory/budget/memoryReport";
import { shownVerdict, type BesideServer } from "../../core/report/besideServer";
import { bytes, say, type Text } from "../../core/text";
import { legend } from "./legend";
import type { View } from "../view/view";
import {
  deviceLayout,
  devicePartBytes,
  devicePartNames,
  deviceParts,
  othersBytes,
  type DeviceLayout,
  type Stretch,
} from "./deviceLayout";
import { shorten } from "./labels";

const rowHeight = 44;
const barHeight = 22;
const nameWidth = 74;
const amountWidth = 92;

/** Below this share of the bar an interval is no wider than its own line. */
const leastInterval = 2;

export function deviceBars(
  view: View,
  devices: readonly DeviceBudget[],
  beside: BesideServer | undefined,
  width: number,
): TemplateResult {
  const barWidth = Math.max(60, width - nameWidth - amountWidth);
  const height = rowHeight * devices.length;
  const rows = deviceLayout(devices, barWidth);
  const label = view.words(say`Memory by device; the table lists it.`);
  return html`<svg
      class="devices"
      width=${width}
      height=${height}
      viewBox="0 0 ${width} ${height}"
      role="img"
      aria-label=${label}
    >
      ${rows.map((row, i) => deviceRow(view, row, beside, i * rowHeight, barWidth))}
    </svg>
    ${legend(legendItems(devices).map(({ kind, name, amount }) => ({ kind, name: view.words(name), amount: view.words(say`${bytes(amount)}`) })))}`;
}

function legendItems(
  devices: readonly DeviceBudget[],
): readonly { readonly kind: string; readonly name: Text; readonly amount: number }[] {
  const sum = (of: (device: DeviceBudget) => number): number =>
    devices.reduce((total, device) => total + of(device), 0);
  return [
    ...deviceParts.map((kind) => ({
      kind,
      name: devicePartNames[kind],
      amount: sum((device) => devicePartBytes(device)[kind]),
    })),
    { kind: "margin", name: say`to keep free`, amount: sum(({ marginBytes = 0 }) => marginBytes) },
    { kind: "others", name: say`other programs`, amount: sum((device) => othersBytes(device) ?? 0) },
  ].filter(({ amount }) => amount > 0);
}

function deviceRow(
  view: View,
  row: DeviceLayout,
  beside: BesideServer | undefined,
  y: number,
  barWidth: number,
): SVGTemplateResult {
  const { device, freeX, parts, margin, others, interval } = row;
  const top = y + (rowHeight - barHeight) / 2;
  const textX = nameWidth + barWidth + 10;
  const bar = (kind: string, { x, width }: Stretch): SVGTemplateResult =>
    svg`<rect class="part ${kind}" x=${nameWidth + x} y=${top + 1} width=${width} height=${barHeight - 2} />`;
  const wide = interval !== undefined && interval[1] - interval[0] >= leastInterval;
  return svg`<g class="device ${shownVerdict(device.verdict ?? "unknown", beside)}">
    <title>${view.words(rowText(device))}</title>
    <text x="0" y=${top + 15}>${shorten(device.name, nameWidth - 8)}</text>
    <rect class="track" x=${nameWidth} y=${top + 0.5} width=${freeX ?? barWidth} height=${barHeight - 1} rx="3" />
    ${margin === undefined ? nothing : bar("margin", margin)}
    ${others === undefined ? nothing : bar("others", others)}
    ${parts.map((part) => bar(part.kind, part))}
    ${wide ? svg`<path class="spread" d=${`M${nameWidth + interval[0]} ${top + barHeight + 3}H${nameWidth + interval[1]}`} />` : nothing}
    ${freeX === undefined ? nothing : svg`<path class="limit" d=${`M${nameWidth + freeX} ${top - 4}V${top + barHeight + 4}`} />`}
    <text class="amount" x=${textX} y=${top + 9}>${view.words(say`${bytes(device.totalBytes)}`)}</text>
    <text class="dim" x=${textX} y=${top + 22}>${
      device.freeBytes === undefined
        ? view.words(say`free unknown`)
        : view.words(say`of ${bytes(device.freeBytes)}`)
    }</text>
  </g>`;
}

function rowText(device: DeviceBudget): Text {
  const { name, totalBytes, freeBytes } = device;
  return freeBytes === undefined
    ? say`${name}: ${bytes(totalBytes)}`
    : say`${name}: ${bytes(totalBytes)} of ${bytes(freeBytes)} free`;
}
