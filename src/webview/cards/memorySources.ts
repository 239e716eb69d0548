import { html, nothing, type TemplateResult } from "lit";
import type { DeviceBudget, MemoryReport } from "../../core/memory/budget/memoryReport";
import { differencesOf } from "../../core/memory/budget/sources";
import { bytes, say } from "../../core/text";
import { dataTable, type Cell } from "./parts";
import type { View } from "../view/view";

/** What llama.cpp's own probe or log says and what we compute, beside each other. */
export function memorySources(view: View, memory: MemoryReport): TemplateResult | typeof nothing {
  const { computed, logged } = memory;
  if (computed === undefined && logged === undefined) return nothing;
  const ours = computed ?? memory;
  const size = (value: number | undefined): Cell => (value === undefined ? "–" : say`${bytes(value)}`);
  const row = (title: Cell, devices: readonly Figures[], name: string): readonly Cell[] => {
    const of = devices.find((device) => device.name === name);
    return [name, title, size(of?.modelBytes), size(of?.contextBytes), size(of?.computeBytes)];
  };
  return html`${dataTable(
    view,
    say`Computed and reported`,
    [
      { title: say`Device` },
      { title: say`Source` },
      { title: say`Weights`, figures: true },
      { title: say`KV and state`, figures: true },
      { title: say`Compute`, figures: true },
    ],
    ours.devices.flatMap(({ name }) => [
      row(say`computed from the header`, ours.devices, name),
      ...(computed === undefined ? [] : [row(say`reported by llama-fit-params`, memory.devices, name)]),
      ...(logged === undefined ? [] : [row(say`in the server's log`, logged, name)]),
    ]),
  )}
  ${differencesOf(memory).map((line) => html`<p class="dim">${view.words(line)}</p>`)}`;
}

type Figures = Pick<DeviceBudget, "name" | "modelBytes" | "contextBytes" | "computeBytes">;
