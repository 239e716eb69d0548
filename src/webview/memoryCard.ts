import { html, nothing, type TemplateResult } from "lit";
import type { DeviceBudget, KvCacheReport, MemoryReport } from "../core/memory/memoryReport";
import type { GaugeReport } from "../core/report/gaugeReport";
import { bytes, count, say } from "../core/text";
import { deviceBars } from "./charts/deviceBars";
import { card, commandButton, dataTable, missing, provenancePill } from "./parts";
import type { View } from "./view";

export function memoryCard(view: View, { memory, model }: GaugeReport, width: number): TemplateResult {
  return card(view, {
    id: "memory",
    title: say`Memory`,
    question: say`by device`,
    pill: memory.known ? provenancePill(view, memory.value.source) : undefined,
    twin: memory.known,
    body: memory.known
      ? budget(view, memory.value, width)
      : missing(
          view,
          memory.why,
          memory.remedy,
          model.known ? nothing : commandButton(view, "chooseModel", say`Choose model`),
        ),
  });
}

function budget(view: View, memory: MemoryReport, width: number): TemplateResult {
  const { words } = view;
  const { nCtx, nCtxPerSlot, slots, unified } = memory.context;
  return html`${view.ui.memory === "picture" ? deviceBars(view, memory.devices, width) : deviceTable(view, memory.devices)}
    <p class="total">
      ${words(say`${bytes(memory.totalBytes)} in all`)}
      <span class="dim"
        >${words(say`between ${bytes(memory.interval.lowBytes)} and ${bytes(memory.interval.highBytes)}`)}</span
      >
    </p>
    <p class="dim">
      ${words(
        slots === 1
          ? say`Context ${count(nCtx)} tokens, one slot.`
          : unified
            ? say`Context ${count(nCtx)} tokens, shared by ${count(slots)} slots.`
            : say`Context ${count(nCtx)} tokens, ${count(slots)} slots of ${count(nCtxPerSlot)}.`,
      )}
      ${words(say`Each further token of context costs ${bytes(memory.bytesPerToken)}.`)}
    </p>
    ${memory.kv.length === 0 ? nothing : kvTable(view, memory.kv, memory.recurrentBytes)}
    ${memory.warnings.map((warning) => html`<p class="warning">${words(warning.message)}</p>`)}`;
}

function deviceTable(view: View, devices: readonly DeviceBudget[]): TemplateResult {
  const size = (value: number): string => view.words(say`${bytes(value)}`);
  return dataTable(
    view,
    say`Memory by device`,
    [
      { title: say`Device` },
      { title: say`Weights`, figures: true },
      { title: say`KV and state`, figures: true },
      { title: say`Compute`, figures: true },
      { title: say`Total`, figures: true },
      { title: say`Free`, figures: true },
    ],
    devices.map((device) => [
      device.name,
      size(device.modelBytes),
      size(device.contextBytes),
      size(device.computeBytes),
      size(device.totalBytes),
      device.freeBytes === undefined ? "–" : size(device.freeBytes),
    ]),
  );
}

function kvTable(view: View, caches: readonly KvCacheReport[], recurrentBytes: number): TemplateResult {
  const { words } = view;
  const number = (value: number): string => words(say`${count(value)}`);
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
        number(cache.layers),
        number(cache.cells),
        `${cache.typeK} / ${cache.typeV}`,
        words(say`${bytes(cache.bytes)}`),
      ]),
      ...(recurrentBytes === 0
        ? []
        : [[words(say`recurrent state`), "", "", "", words(say`${bytes(recurrentBytes)}`)]]),
    ],
  );
}
