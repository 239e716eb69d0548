import { formatBytes, formatNumber } from "../../core/format";
import { valueOf } from "../../core/known";
import type { DeviceBudget, MemoryReport } from "../../core/memory/budget/memoryReport";
import type { LiveMemory, LiveServer } from "../../core/memory/devices/liveMemory";
import { reportOf } from "../../core/report/gaugeState";
import { countingProgressText } from "../../core/report/countingProgressText";
import type { GaugeReport } from "../../core/report/gaugeReport";
import type { GaugeState } from "../../core/report/gaugeState";
import { modelName } from "../../core/report/modelName";
import { visibleName } from "../../core/report/visibleName";
import { bytes, count, say, type Text } from "../../core/text";
import { isExact } from "../../core/tokens/tokenCount";
import type { EditorTokens } from "../estimate/editorTokens";

export interface StatusView {
  /** With VS Code's `$(icon)` notation. */
  readonly text: string;
  readonly accessibleLabel: string;
  /** Markdown; links only to commands of `tooltipCommands`. */
  readonly tooltip: string;
  readonly warning: boolean;
}

/** What the tooltip shows besides the state. */
export interface StatusExtras {
  readonly editor?: EditorTokens | undefined;
  readonly live?: LiveMemory | undefined;
}

export const tooltipCommands = [
  "llamaGauge.showPanel",
  "llamaGauge.estimateWorkspace",
  "llamaGauge.chooseServer",
  "llamaGauge.chooseModel",
  "llamaGauge.refresh",
  "llamaGauge.cancel",
  "llamaGauge.showLog",
] as const;

type TooltipCommand = (typeof tooltipCommands)[number];
type Write = (text: Text) => string;

/** What the status bar says in a state; `write` puts a sentence into the reader's language. */
export function statusView(
  state: GaugeState,
  write: Write,
  locale: string,
  { editor, live }: StatusExtras = {},
): StatusView {
  const report = reportOf(state);
  const details = report === undefined ? "" : reportTooltip(report, write, locale);
  const inEditor =
    editor === undefined
      ? ""
      : escape(write(say`In the editor: ${visibleName(editor.name)}, ${count(editor.tokens)} tokens`));
  switch (state.status) {
    case "idle":
      return {
        text: "$(dashboard) Llama Gauge",
        accessibleLabel: write(say`Llama Gauge: nothing estimated yet`),
        tooltip: page(
          [
            `**Llama Gauge**`,
            escape(write(say`Right-click files or folders in the Explorer to see what sending them costs.`)),
          ],
          [link(write(say`Estimate workspace`), "llamaGauge.estimateWorkspace"), chooseServer(write)],
        ),
        warning: false,
      };
    case "counting": {
      const progress = write(countingProgressText(state.progress));
      return {
        text: `$(loading~spin) ${progress}`,
        accessibleLabel: write(say`Llama Gauge: counting tokens`),
        tooltip: page([`**Llama Gauge**`, escape(progress)], [link(write(say`Cancel`), "llamaGauge.cancel")]),
        warning: false,
      };
    }
    case "failed":
      return {
        text: `$(error) Llama Gauge`,
        accessibleLabel: `Llama Gauge: ${write(state.failure.problem)}`,
        tooltip: page(
          [`**${escape(write(state.failure.problem))}**`, escape(write(state.failure.remedy))],
          [link(write(say`Try again`), "llamaGauge.refresh"), chooseServer(write), showLog(write)],
        ),
        warning: false,
      };
    case "ready": {
      const warning = state.report.verdict.kind.startsWith("exceeds");
      const icon = warning ? "$(warning)" : "$(dashboard)";
      const stale = state.stale ? ` ${write(say`(stale)`)}` : "";
      const figures = reportFigures(state.report, write, locale);
      return {
        text: `${icon} ${figures}${stale}`,
        accessibleLabel: `Llama Gauge: ${write(state.report.verdict.sentence)}${stale}`,
        tooltip: page(
          [details, live === undefined ? "" : liveTooltip(live, write, locale), inEditor],
          [
            link(write(say`Open panel`), "llamaGauge.showPanel"),
            link(write(say`Refresh`), "llamaGauge.refresh"),
            chooseServer(write),
            link(write(say`Choose model`), "llamaGauge.chooseModel"),
            showLog(write),
          ],
        ),
        warning,
      };
    }
  }
}

/** "19,840 / 32,512 tokens · KV 0.8/1.3 GiB · VRAM 22.6/93.6 GiB"; of a budget alone "KV 1.3 GiB · VRAM 22.6/93.6 GiB · 64K". */
function reportFigures(report: GaugeReport, write: Write, locale: string): string {
  const { acceptance } = report;
  if (report.scope.roots.length === 0 && report.tokens.files.length === 0 && report.memory.known) {
    return budgetFigures(report.memory.value, locale).join(" · ");
  }
  const prompt = `${acceptance.exact ? "" : "≈ "}${formatNumber(acceptance.promptTokens, locale)}`;
  const memory = valueOf(report.memory);
  return [
    acceptance.nCtxPerSlot === null
      ? write(say`${prompt} tokens`)
      : write(say`${prompt} / ${count(acceptance.nCtxPerSlot)} tokens`),
    ...(memory === undefined ? [] : memoryFigures(memory, acceptance.promptTokens, locale)),
  ].join(" · ");
}

function budgetFigures(memory: MemoryReport, locale: string): string[] {
  const kvBytes = kvOf(memory);
  const { nCtxPerSlot } = memory.context;
  const context =
    nCtxPerSlot % 1024 === 0
      ? `${formatNumber(nCtxPerSlot / 1024, locale)}K`
      : formatNumber(nCtxPerSlot, locale);
  return [
    ...(kvBytes === 0 ? [] : [`KV ${formatBytes(kvBytes, locale)}`]),
    ...deviceFigure(memory, locale),
    context,
  ];
}

const kvOf = (memory: MemoryReport): number => memory.kv.reduce((sum, cache) => sum + cache.bytes, 0);

function memoryFigures(memory: MemoryReport, promptTokens: number, locale: string): string[] {
  const kvBytes = kvOf(memory);
  const filled = Math.min(1, promptTokens / Math.max(1, memory.context.nCtx)) * kvBytes;
  const kv = kvBytes === 0 ? [] : [`KV ${ratio(filled, kvBytes, locale)}`];
  return [...kv, ...deviceFigure(memory, locale)];
}

function deviceFigure(memory: MemoryReport, locale: string): string[] {
  const deciding = memory.devices.find(({ name }) => name === memory.tightest?.device);
  const device = deciding ?? tightest(memory.devices);
  if (device === undefined) return [];
  const name = isHost(device)
    ? "RAM"
    : memory.devices.filter((d) => !isHost(d)).length > 1
      ? device.name
      : "VRAM";
  const of = device.freeBytes;
  return [
    `${name} ${of === undefined ? formatBytes(device.totalBytes, locale) : ratio(device.totalBytes, of, locale)}`,
  ];
}

/** The device that decides: the least left over; without figures for what is free, the fullest one. */
function tightest(devices: readonly DeviceBudget[]): DeviceBudget | undefined {
  const measured = devices.filter((device) => device.freeBytes !== undefined && device.totalBytes > 0);
  const left = (device: DeviceBudget): number => (device.freeBytes ?? 0) - device.totalBytes;
  if (measured.length > 0) return measured.reduce((a, b) => (left(b) < left(a) ? b : a));
  return devices.reduce<DeviceBudget | undefined>(
    (a, b) => (a === undefined || b.totalBytes > a.totalBytes ? b : a),
    undefined,
  );
}

const isHost = (device: DeviceBudget): boolean => /^(cpu|host)/i.test(device.name);

/** Two sizes in the unit of the larger one, "0.8/1.3 GiB", unless one of them would be nothing in it. */
function ratio(part: number, whole: number, locale: string): string {
  const of = formatBytes(Math.max(part, whole), locale);
  const unit = of.slice(of.lastIndexOf(" ") + 1);
  const scale = 1024 ** Math.max(0, ["B", "KiB", "MiB", "GiB", "TiB"].indexOf(unit));
  const digits = (value: number): string =>
    formatNumber(value / scale, locale, unit === "B" || value / scale >= 100 ? 0 : 1);
  if (part > 0 && part / scale < 0.05) return `${formatBytes(part, locale)}/${of}`;
  return `${digits(part)}/${digits(whole)} ${unit}`;
}

function reportTooltip(report: GaugeReport, write: Write, locale: string): string {
  const { acceptance, tokens } = report;
  const number = (value: number): string => formatNumber(value, locale);
  const counted = isExact(tokens.tokenizer) ? write(say`exact`) : write(say`assumed`);
  const rows: string[][] = [
    [write(say`Files`), number(acceptance.parts.files), counted],
    [write(say`Packing`), number(acceptance.parts.packing), ""],
    [write(say`Chat template`), number(acceptance.parts.template), ""],
    [`**${escape(write(say`Prompt`))}**`, `**${number(acceptance.promptTokens)}**`, ""],
  ];
  if (acceptance.nCtxPerSlot !== null) {
    rows.push([write(say`Context of one request`), number(acceptance.nCtxPerSlot), ""]);
    rows.push([write(say`Room for the answer`), number(acceptance.answerRoom ?? 0), ""]);
  }
  const memory = valueOf(report.memory);
  return [
    `**${escape(write(report.verdict.sentence))}**`,
    escape(visibleName(subject(report))),
    table(["", write(say`Tokens`), ""], rows),
    ...(memory === undefined ? [] : [deviceTable(memory, write, locale)]),
    ...(memory?.tightest === undefined ? [] : [escape(write(memory.tightest.text))]),
  ].join("\n\n");
}

function subject(report: GaugeReport): string {
  return [
    report.scope.label,
    ...(report.server.known ? [new URL(report.server.value.url).host] : []),
    ...(report.model.known ? [modelName(report.model.value)] : []),
  ].join(" · ");
}

function deviceTable(memory: MemoryReport, write: Write, locale: string): string {
  return table(
    [
      write(say`Device`),
      write(say`Weights`),
      write(say`KV and state`),
      write(say`Compute`),
      write(say`Total`),
      write(say`Free`),
    ],
    memory.devices.map((device) => [
      escape(device.name),
      ...[device.modelBytes, device.contextBytes, device.computeBytes, device.totalBytes].map((size) =>
        formatBytes(size, locale),
      ),
      device.freeBytes === undefined ? "–" : write(say`${bytes(device.freeBytes)}`),
    ]),
  );
}

/** What was measured of this machine's memory, and when. */
function liveTooltip({ at, devices, host, server }: LiveMemory, write: Write, locale: string): string {
  const time = new Intl.DateTimeFormat(locale, { timeStyle: "medium" }).format(at);
  const rows = [...devices, host].map(({ name, totalBytes, freeBytes }) => [
    escape(name),
    formatBytes(totalBytes - freeBytes, locale),
    formatBytes(freeBytes, locale),
    server === undefined ? "–" : heldBy(server, name, name === host.name, locale),
  ]);
  const head = [write(say`Measured at ${time}`), write(say`Used`), write(say`Free`), "llama-server"];
  return table(head.map(escape), rows);
}

function heldBy(
  { residentBytes, devices }: LiveServer,
  name: string,
  isHost: boolean,
  locale: string,
): string {
  const held = isHost ? residentBytes : devices?.find((device) => device.name === name)?.bytes;
  return held === undefined ? "–" : formatBytes(held, locale);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, i) => (i === 0 ? ":--" : "--:"));
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}

function page(paragraphs: readonly string[], links: readonly string[]): string {
  return [...paragraphs.filter((paragraph) => paragraph !== ""), "---", links.join(" · ")].join("\n\n");
}

const link = (title: string, command: TooltipCommand): string => `[${escape(title)}](command:${command})`;
const chooseServer = (write: Write): string => link(write(say`Choose server`), "llamaGauge.chooseServer");
const showLog = (write: Write): string => link(write(say`Log`), "llamaGauge.showLog");

/** Names of files and models must stay text in Markdown. */
function escape(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+!|<>~$-]/g, "\\$&").replace(/\s+/g, " ");
}
