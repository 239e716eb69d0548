import { html, nothing, type TemplateResult } from "lit";
import type { HostExtra, KvCacheReport, MemoryReport } from "../../core/memory/budget/memoryReport";
import { decidingText, shownVerdict } from "../../core/report/besideServer";
import type { GaugeReport } from "../../core/report/gaugeReport";
import { bytes, count, say, type Text } from "../../core/text";
import { deviceBars } from "../charts/deviceBars";
import { contextTableView } from "./contextTableView";
import { deviceTable } from "./deviceTable";
import { liveMemory } from "./liveMemoryLine";
import { memorySources } from "./memorySources";
import { card, commandButton, dataTable, missing, provenancePill } from "./parts";
import type { View } from "../view/view";
import { whatIfControls } from "./whatIfControls";

export function memoryCard(view: View, report: GaugeReport, width: number): TemplateResult {
  const { memory, model } = report;
  return card(view, {
    id: "memory",
    wide: true,
    title: say`Memory`,
    question: say`by device`,
    pill: memory.known ? provenancePill(view, memory.value.source) : undefined,
    twin: memory.known,
    body: memory.known
      ? budget(view, report, memory.value, width)
      : missing(
          view,
          memory.why,
          memory.remedy,
          model.known ? nothing : commandButton(view, "chooseModel", say`Choose model`),
        ),
  });
}

function budget(view: View, report: GaugeReport, memory: MemoryReport, width: number): TemplateResult {
  const { words } = view;
  const { lowBytes, highBytes } = memory.interval;
  const { beside } = report;
  const deciding = decidingText(memory, beside);
  return html`${view.ui.memory === "picture" ? deviceBars(view, memory.devices, beside, width) : deviceTable(view, memory.devices, beside)}
    <p class="total">
      ${words(say`${bytes(memory.totalBytes)} in total`)}
      <span class="dim">${words(spread(lowBytes, highBytes))}</span>
      ${deciding === undefined ? nothing : html`<span class="tightest ${shownVerdict(memory.verdict, beside)}">${words(deciding)}</span>`}
    </p>
    <p class="dim">
      ${words(contextText(memory))}
      ${words(say`Each additional token of context costs ${bytes(memory.bytesPerToken)}.`)}
    </p>
    ${liveMemory(view)} ${whatIfControls(view, report)}
    ${memory.warnings.map((warning) => html`<p class="warning">${words(warning.message)}</p>`)}
    ${explanation(view, memory)}
    ${memory.kv.length === 0 ? nothing : kvTable(view, memory.kv, memory.recurrentBytes)}
    ${memorySources(view, memory)} ${report.knobs === undefined ? nothing : contextTableView(view)}`;
}

/** Ends that would read the same are said as a distance. */
function spread(low: number, high: number): Text {
  if (low === high) return say`exact to the byte`;
  return high - low < 0.01 * high
    ? say`± ${bytes((high - low) / 2)}`
    : say`between ${bytes(low)} and ${bytes(high)}`;
}

function contextText({ context: { nCtx, nCtxPerSlot, slots, unified } }: MemoryReport): Text {
  if (slots === 1) return say`Context ${count(nCtx)} token[s], one slot.`;
  return unified
    ? say`Context ${count(nCtx)} token[s], shared by ${count(slots)} slot[s].`
    : say`Context ${count(nCtx)} token[s], ${count(slots)} slot[s] of ${count(nCtxPerSlot)}.`;
}

/** Which layers hold the cache and why it grows as it does. */
function explanation({ words }: View, memory: MemoryReport): TemplateResult | typeof nothing {
  const extras = (memory.hostExtras ?? []).filter((extra) => extra.bytes > 0);
  const lines = memory.explanation?.lines ?? [];
  if (lines.length + extras.length === 0) return nothing;
  return html`<ul class="why">
    ${lines.map((line) => html`<li>${words(line)}</li>`)}
    ${extras.map((extra) => html`<li>${words(extraText(extra))}</li>`)}
  </ul>`;
}

const extraText = ({ text, when, bytes: size }: HostExtra): Text =>
  when === "atLoad"
    ? say`Plus ${text} ${bytes(size)} of host memory.`
    : say`${text} Plus up to ${bytes(size)} of host memory, filled as requests arrive.`;

function kvTable(view: View, caches: readonly KvCacheReport[], recurrentBytes: number): TemplateResult {
  return dataTable(
    view,
    say`KV cache`,
    [
      { title: say`KV cache` },
      { title: say`Layers`, figures: true },
      { title: say`Cells`, figures: true },
      { title: say`K / V`, figures: true },
      { title: say`Size`, figures: true },
    ],
    [
      ...caches.map((cache) => [
        cache.cache,
        say`${count(cache.layers)}`,
        say`${count(cache.cells)}`,
        `${cache.typeK} / ${cache.typeV}`,
        say`${bytes(cache.bytes)}`,
      ]),
      ...(recurrentBytes === 0 ? [] : [[say`recurrent state`, "", "", "", say`${bytes(recurrentBytes)}`]]),
    ],
  );
}
