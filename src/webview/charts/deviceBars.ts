import { html, nothing, svg, type SVGTemplateResult, type TemplateResult } from "lit";
import type { DeviceBudget } from "../../core/memory/memoryReport";
import { bytes, say } from "../../core/text";
import { legend } from "../parts";
import type { View } from "../view";
import { shorten } from "./labels";
import { deviceLayout, devicePartNames, type DeviceLayout, type DevicePart } from "./deviceLayout";

const rowHeight = 44;
const barHeight = 22;
const nameWidth = 74;
const amountWidth = 92;

export function deviceBars(view: View, devices: readonly DeviceBudget[], width: number): TemplateResult {
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
      ${rows.map((row, i) => deviceRow(view, row, i * rowHeight, barWidth))}
    </svg>
    ${legend(
      (["weights", "kv", "compute"] as const).map((kind) => ({
        kind,
        name: view.words(devicePartNames[kind]),
        amount: view.words(say`${bytes(sumOf(devices, kind))}`),
      })),
    )}`;
}

function deviceRow(view: View, row: DeviceLayout, y: number, barWidth: number): SVGTemplateResult {
  const { device, freeX } = row;
  const over = device.freeBytes !== undefined && device.totalBytes > device.freeBytes;
  const top = y + (rowHeight - barHeight) / 2;
  const textX = nameWidth + barWidth + 10;
  return svg`<g class=${over ? "device over" : "device"}>
    <text x="0" y=${top + 15}>${shorten(device.name, nameWidth - 8)}</text>
    <rect class="track" x=${nameWidth} y=${top + 0.5} width=${freeX ?? barWidth} height=${barHeight - 1} rx="3" />
    ${row.parts.map(
      (part) =>
        svg`<rect class="part ${part.kind}" x=${nameWidth + part.x} y=${top + 1} width=${part.width} height=${barHeight - 2} />`,
    )}
    ${freeX === undefined ? nothing : svg`<path class="limit" d=${`M${nameWidth + freeX} ${top - 4}V${top + barHeight + 4}`} />`}
    <text class="amount" x=${textX} y=${top + 9}>${view.words(say`${bytes(device.totalBytes)}`)}</text>
    <text class="dim" x=${textX} y=${top + 22}>${
      device.freeBytes === undefined
        ? view.words(say`free unknown`)
        : view.words(say`of ${bytes(device.freeBytes)}`)
    }</text>
  </g>`;
}

function sumOf(devices: readonly DeviceBudget[], kind: DevicePart): number {
  const field = { weights: "modelBytes", kv: "contextBytes", compute: "computeBytes" } as const;
  return devices.reduce((sum, device) => sum + device[field[kind]], 0);
}
