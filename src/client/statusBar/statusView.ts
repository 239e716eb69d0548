import { formatBytes, formatNumber } from "../../core/format";
import { valueOf } from "../../core/known";
import type { DeviceBudget, MemoryReport } from "../../core/memory/budget/memoryReport";
import type { LiveMemory, ServerMemory } from "../../core/memory/devices/liveMemory";
import { decidingText } from "../../core/report/besideServer";
import { reportOf, type GaugeState, countingProgressText } from "../../core/report/gaugeState";
import type { GaugeReport } from "../../core/report/gaugeReport";
import { severityOf, type VerdictSeverity } from "../../core/report/verdict";
import { commandLink, inLine, markdownTable, md, paragraphs, type Markdown } from "../../core/markdown";
import { codicon, shownName, together, type Shown } from "../../core/shown";
import { bytes, count, say, seconds, type Text } from "../../core/text";
import { isExact } from "../../core/tokens/tokenCount";
import type { EditorTokens } from "../estimate/editorTokens";
import { modelName, templateName } from "../../core/report/names";

export interface StatusView {
  /** With VS Code's `$(icon)` notation. */
  readonly text: Shown;
  readonly accessibleLabel: Shown;
  /** Links only to commands of `tooltipCommands`. */
  readonly tooltip: Markdown;
  readonly severity: VerdictSeverity;
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
type Write = (text: Text) => Shown;

const icons = { good: "dashboard", open: "dashboard", care: "warning", bad: "error" } as const;

const name = shownName("Llama Gauge");
const spokenName = shownName("Llama Gauge:");

/** What the status bar says in a state; `write` puts a sentence into the reader's language. */
export function statusView(
  state: GaugeState,
  write: Write,
  locale: string,
  { editor, live }: StatusExtras = {},
): StatusView {
  const report = reportOf(state);
  const details = report === undefined ? [] : reportTooltip(report, write, locale);
  const inEditor =
    editor === undefined
      ? []
      : [md`${write(say`In the editor: ${editor.name}, ${count(editor.tokens)} token[s]`)}`];
  switch (state.status) {
    case "idle":
      return {
        text: together([codicon("dashboard"), name], " "),
        accessibleLabel: write(say`Llama Gauge: nothing estimated yet`),
        tooltip: page(
          [
            md`**${name}**`,
            md`${write(say`Right-click files or folders in the Explorer to see what sending them costs.`)}`,
          ],
          [link(write(say`Estimate workspace`), "llamaGauge.estimateWorkspace"), chooseServer(write)],
        ),
        severity: "open",
      };
    case "counting": {
      const progress = write(countingProgressText(state.progress));
      return {
        text: together([codicon("loading~spin"), progress], " "),
        accessibleLabel: write(say`Llama Gauge: counting tokens`),
        tooltip: page([md`**${name}**`, md`${progress}`], [link(write(say`Cancel`), "llamaGauge.cancel")]),
        severity: "open",
      };
    }
    case "failed":
      return {
        text: together([codicon("error"), name], " "),
        accessibleLabel: together([spokenName, write(state.failure.problem)], " "),
        tooltip: page(
          [md`**${write(state.failure.problem)}**`, md`${write(state.failure.remedy)}`],
          [link(write(say`Try again`), "llamaGauge.refresh"), chooseServer(write), showLog(write)],
        ),
        severity: "open",
      };
    case "ready": {
      const severity = severityOf(state.report.verdict);
      const stale = state.stale ? [write(say`(stale)`)] : [];
      const figures = reportFigures(state.report, write, locale);
      return {
        text: together([codicon(icons[severity]), figures, ...stale], " "),
        accessibleLabel: together([spokenName, write(state.report.verdict.sentence), ...stale], " "),
        tooltip: page(
          [...details, ...(live === undefined ? [] : [liveTooltip(live, write, locale)]), ...inEditor],
          [
            link(write(say`Open panel`), "llamaGauge.showPanel"),
            link(write(say`Refresh`), "llamaGauge.refresh"),
            chooseServer(write),
            link(write(say`Choose model`), "llamaGauge.chooseModel"),
            showLog(write),
          ],
        ),
        severity,
      };
    }
  }
}

/** "19,840 / 32,512 tokens · KV 0.8/1.3 GiB · VRAM 22.6/93.6 GiB · 98 s"; of a budget alone "KV 1.3 GiB · VRAM 22.6/93.6 GiB · 64K". */
function reportFigures(report: GaugeReport, write: Write, locale: string): Shown {
  const { acceptance } = report;
  if (report.scope.roots.length === 0 && report.tokens.files.length === 0 && report.memory.known) {
    return together(
      budgetFigures(report.memory.value, locale).map((part) => shownName(part)),
      " · ",
    );
  }
  const tokens = count(acceptance.promptTokens);
  const prompt = acceptance.exact ? say`${tokens}` : say`≈ ${tokens}`;
  const memory = valueOf(report.memory);
  const figures = memory === undefined ? [] : memoryFigures(memory, acceptance.promptTokens, locale);
  return together(
    [
      acceptance.nCtxPerSlot === null
        ? write(say`${prompt} token[s]`)
        : write(say`${prompt} / ${count(acceptance.nCtxPerSlot)} token[s]`),
      ...figures.map((part) => shownName(part)),
      ...(report.prefill.known ? [write(say`${seconds(report.prefill.seconds)}`)] : []),
    ],
    " · ",
  );
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

function reportTooltip(report: GaugeReport, write: Write, locale: string): readonly Markdown[] {
  const { acceptance, tokens } = report;
  const number = (value: number): Markdown => md`${write(say`${count(value)}`)}`;
  const counted = md`${write(isExact(tokens.tokenizer) ? say`exact` : say`assumed`)}`;
  const template = report.template === undefined ? md`` : md`${write(templateName(report.template))}`;
  const rows: Markdown[][] = [
    [md`${write(say`Files`)}`, number(acceptance.parts.files), counted],
    [md`${write(say`Packing`)}`, number(acceptance.parts.packing), md``],
    [md`${write(say`Chat template`)}`, number(acceptance.parts.template), template],
    [md`**${write(say`Prompt`)}**`, md`**${write(say`${count(acceptance.promptTokens)}`)}**`, md``],
  ];
  if (acceptance.nCtxPerSlot !== null) {
    rows.push([md`${write(say`Context per request`)}`, number(acceptance.nCtxPerSlot), md``]);
    rows.push([md`${write(say`Room for the answer`)}`, number(acceptance.answerRoom ?? 0), md``]);
  }
  const memory = valueOf(report.memory);
  const deciding = memory && decidingText(memory, report.beside);
  return [
    md`**${write(report.verdict.sentence)}**`,
    md`${subject(report)}`,
    markdownTable([md``, md`${write(say`Tokens`)}`, md``], rows, figuresToTheRight),
    ...(memory === undefined ? [] : [deviceTable(memory, write, locale)]),
    ...(deciding === undefined ? [] : [md`${write(deciding)}`]),
  ];
}

function subject(report: GaugeReport): Shown {
  const names = [
    report.scope.label,
    ...(report.server.known ? [new URL(report.server.value.url).host] : []),
    ...(report.model.known ? [modelName(report.model.value)] : []),
  ];
  return together(
    names.map((each) => shownName(each)),
    " · ",
  );
}

function deviceTable(memory: MemoryReport, write: Write, locale: string): Markdown {
  return plainTable(
    [
      write(say`Device`),
      write(say`Weights`),
      write(say`KV and state`),
      write(say`Compute`),
      write(say`Total`),
      write(say`Free`),
    ],
    memory.devices.map((device) => [
      shownName(device.name),
      ...[device.modelBytes, device.contextBytes, device.computeBytes, device.totalBytes].map((size) =>
        shownName(formatBytes(size, locale)),
      ),
      device.freeBytes === undefined ? shownName("–") : write(say`${bytes(device.freeBytes)}`),
    ]),
  );
}

/** What was measured of this machine's memory, and when. */
function liveTooltip({ at, devices, host, server }: LiveMemory, write: Write, locale: string): Markdown {
  const time = new Intl.DateTimeFormat(locale, { timeStyle: "medium" }).format(at);
  const rows = [...devices, host].map(({ name, totalBytes, freeBytes }) => [
    shownName(name),
    shownName(formatBytes(totalBytes - freeBytes, locale)),
    shownName(formatBytes(freeBytes, locale)),
    shownName(server === undefined ? "–" : heldBy(server, name, name === host.name, locale)),
  ]);
  const head = [say`Measured at ${time}`, say`Used`, say`Free`].map(write);
  return plainTable([...head, shownName("llama-server")], rows);
}

function heldBy(
  { residentBytes, devices }: ServerMemory,
  name: string,
  isHost: boolean,
  locale: string,
): string {
  const held = isHost ? residentBytes : devices?.find((device) => device.name === name)?.bytes;
  return held === undefined ? "–" : formatBytes(held, locale);
}

const figuresToTheRight = (column: number): ":--" | "--:" => (column === 0 ? ":--" : "--:");

function plainTable(head: readonly Shown[], rows: readonly (readonly Shown[])[]): Markdown {
  const cells = (texts: readonly Shown[]): Markdown[] => texts.map((text) => md`${text}`);
  return markdownTable(cells(head), rows.map(cells), figuresToTheRight);
}

const page = (parts: readonly Markdown[], links: readonly Markdown[]): Markdown =>
  paragraphs([
    ...parts,
    md`
***
    `,
    inLine(links),
  ]);

const link = (title: Shown, command: TooltipCommand): Markdown => commandLink(title, command);
const chooseServer = (write: Write): Markdown => link(write(say`Choose server`), "llamaGauge.chooseServer");
const showLog = (write: Write): Markdown => link(write(say`Log`), "llamaGauge.showLog");
