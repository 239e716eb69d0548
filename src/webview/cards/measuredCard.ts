import { html, nothing, type TemplateResult } from "lit";
import type { BaselineComparison } from "../../core/history/baseline";
import type { HistoryKind } from "../../core/history/historyRecord";
import type { ComparisonResult } from "../../core/bench/comparison";
import type { ShownComparison, SpeedState } from "../../core/report/speedState";
import type { RunSummary } from "../../core/history/runSummary";
import type { DepthCurve } from "../../core/prefill/depthCurve";
import type { GaugeReport } from "../../core/report/gaugeReport";
import { visibleName } from "../../core/visibleName";
import { count, percent, say, tokensPerSecond, type Text } from "../../core/text";
import { costCurve } from "../charts/curveCost";
import { card, commandButton, dataTable, missing, provenancePill } from "./parts";
import type { View } from "../view/view";
import { verdictPill } from "./waitStrip";
import { milliseconds } from "../view/words";
import { largest } from "../../core/lists";

/** What was measured: the cost of a token by depth, comparisons, and the history of runs. */
export function measuredCard(
  view: View,
  { curve, origin, acceptance, server, model }: GaugeReport,
  width: number,
): TemplateResult {
  const { speed, whatIf } = view.model;
  const busy = speed.running !== undefined;
  // what is only tried has no runs of its own to show
  const measured = curve !== undefined && curve.points.length > 0 ? curve : undefined;
  return card(view, {
    id: "measured",
    wide: true,
    title: say`Measured speed`,
    question: say`cost of one token by depth, and every run`,
    pill: measured === undefined ? undefined : provenancePill(view, "measured"),
    twin: measured !== undefined,
    body: html`${
        measured === undefined
          ? missing(
              view,
              whatIf === undefined
                ? say`Nothing has been measured with this model and these options.`
                : say`Nothing has been measured with the options of this what-if.`,
              say`A depth probe takes about a minute; comparisons and baselines start from it.`,
              !busy && (server.known || model.known)
                ? commandButton(view, "runDepthProbe", say`Run depth probe`)
                : nothing,
            )
          : html`<p class="dim">${setup(view, measured)}</p>
              ${view.ui.measured === "picture" ? pictures(view, measured, acceptance.promptTokens, width) : nothing}
              ${spanTable(view, measured, view.ui.measured === "table")}`
      }
      ${speed.comparison === undefined ? nothing : comparison(view, speed.comparison)}
      ${speed.baseline === undefined ? nothing : baseline(view, speed.baseline)}
      ${history(view, speed, origin?.id)}
      <div class="buttons">
        ${measured === undefined || busy ? nothing : commandButton(view, "runDepthProbe", say`Probe again`)}
        ${busy ? nothing : commandButton(view, "compareKvCacheTypes", say`Compare KV cache types`)}
        ${measured === undefined ? nothing : commandButton(view, "recordBaseline", say`Record baseline`)}
        ${
          speed.runs.some(({ kind }) => kind === "baseline")
            ? commandButton(view, "compareWithBaseline", say`Compare with baseline`)
            : nothing
        }
        ${commandButton(view, "importMeasurements", say`Import`)}
        ${speed.runs.some(({ assumed }) => assumed !== undefined) ? commandButton(view, "changeAssumption", say`Change what was assumed`) : nothing}
        ${speed.runs.length === 0 ? nothing : commandButton(view, "exportHistory", say`Export`)}
      </div>`,
  });
}

function setup({ words }: View, { key }: DepthCurve): string {
  const model = key.model.split(/[\\/]/).at(-1) ?? "";
  const flags = key.flags === "" ? words(say`llama-server's own defaults`) : key.flags;
  return [model, key.build, flags, key.backend ?? "", key.hardware ?? ""]
    .filter((part) => part !== "")
    .map(visibleName)
    .join(" · ");
}

function pictures(view: View, curve: DepthCurve, prompt: number, width: number): TemplateResult {
  const deepest = largest(curve.points.map(({ depth, tokens }) => depth + tokens));
  const furthest = Math.max(deepest, prompt);
  const two = width >= 720 && curve.generation.length > 0;
  const each = two ? (width - 24) / 2 : width;
  const chart = (kind: "prefill" | "generation", title: Text): TemplateResult | typeof nothing => {
    const drawn = costCurve(view, curve, kind, furthest, each);
    return drawn === undefined
      ? nothing
      : html`<figure>
          <figcaption class="dim">${view.words(title)}</figcaption>
          ${drawn}
        </figure>`;
  };
  return html`<div class=${two ? "pair" : ""}>
    ${chart("prefill", say`Prefill, ms per token`)}${chart("generation", say`Generation, ms per token`)}
  </div>`;
}

/** The chunks as they were measured. */
function spanTable(view: View, curve: DepthCurve, open: boolean): TemplateResult {
  const { words } = view;
  const figures = true;
  const prefill = dataTable(
    view,
    say`Measured spans of prefill`,
    [
      { title: say`Depth`, figures },
      { title: say`Tokens`, figures },
      { title: say`ms per token`, figures },
      { title: say`Speed`, figures },
    ],
    curve.points.map(({ depth, tokens, seconds }) => [
      words(say`${count(depth)}`),
      words(say`${count(tokens)}`),
      milliseconds(view, seconds / tokens),
      words(say`${tokensPerSecond(tokens / seconds)}`),
    ]),
  );
  const generation =
    curve.generation.length === 0
      ? nothing
      : dataTable(
          view,
          say`Measured generation`,
          [
            { title: say`Depth`, figures },
            { title: say`ms per token`, figures },
            { title: say`Speed`, figures },
          ],
          curve.generation.map(({ depth, tokensPerSecond: speed }) => [
            words(say`${count(depth)}`),
            milliseconds(view, 1 / speed),
            words(say`${tokensPerSecond(speed)}`),
          ]),
        );
  return open
    ? html`${prefill}${generation}`
    : html`<details>
        <summary>${words(say`Measured spans: ${count(curve.points.length)}`)}</summary>
        ${prefill}${generation}
      </details>`;
}

function comparison(view: View, { results, conclusions }: ShownComparison): TemplateResult {
  const { words } = view;
  return html`${results.map((result) => compared(view, result))}
  ${conclusions
    .filter(({ sentences }) => sentences.length > 0)
    .map(
      ({ option, values, sentences }) =>
        html`<p>
          <b>${words(say`${option} ${values[1]}`)}</b>
          ${sentences.map((sentence) => html`<span>${words(sentence)} </span>`)}
        </p>`,
    )}`;
}

function compared({ words }: View, found: ComparisonResult): TemplateResult {
  const { option, values, depth, threshold, prefill, generation } = found;
  const notes = [...new Set([...prefill.notes, ...generation.notes].map((note) => words(note)))];
  return html`<section class="finding">
    <h3>${words(say`${option} ${values[0]} compared with ${values[1]}`)}</h3>
    <p><b>${words(say`Prefill`)}</b> ${words(prefill.sentence)}</p>
    <p><b>${words(say`Generation`)}</b> ${words(generation.sentence)}</p>
    <p class="dim">
      ${words(say`At depth ${count(depth)}; differences below ${percent(100 * threshold)} count as none.`)}
      ${notes.map((note) => html`<span>${note} </span>`)}
    </p>
  </section>`;
}

function baseline(view: View, { rows, sentence, differs }: BaselineComparison): TemplateResult {
  const { words } = view;
  const change = (part: number | undefined): string =>
    part === undefined ? "–" : `${part > 0 ? "+" : ""}${words(say`${percent(100 * part)}`)}`;
  return html`<section class="finding">
    <h3>${words(say`Compared with the baseline`)}</h3>
    <p>${words(sentence)}</p>
    ${differs.length === 0 ? nothing : html`<p class="dim">${words(say`Not the same: ${differs.join(", ")}.`)}</p>`}
    ${dataTable(
      view,
      say`Time per token against the baseline`,
      [
        { title: say`Depth`, figures: true },
        { title: say`Prefill`, figures: true },
        { title: say`Generation`, figures: true },
      ],
      rows.map(({ depth, prefillChange, generationChange }) => [
        words(say`${count(depth)}`),
        change(prefillChange),
        change(generationChange),
      ]),
    )}
  </section>`;
}

const kinds: Readonly<Record<HistoryKind, Text>> = {
  probe: say`probe`,
  bench: say`bench`,
  comparison: say`comparison`,
  ladder: say`ladder`,
  request: say`request`,
  import: say`import`,
  baseline: say`baseline`,
};

function history(view: View, { runs, unreadable }: SpeedState, current: string | undefined): TemplateResult {
  const { words } = view;
  if (runs.length === 0) return html`<p class="dim">${words(say`No runs yet.`)}</p>`;
  return html`<details>
    <summary>${words(say`History: ${count(runs.length)} run[s]`)}</summary>
    ${dataTable(
      view,
      say`Measurement history`,
      [
        { title: say`When` },
        { title: say`Run` },
        { title: say`Model and options` },
        { title: say`To depth`, figures: true },
        { title: say`First, ms per token`, figures: true },
        { title: say`Deepest, ms per token`, figures: true },
        { title: say`Machine` },
        { title: say`Notes` },
      ],
      runs.map((run) => historyRow(view, run, run.id === current)),
    )}
    ${unreadable === 0 ? nothing : html`<p class="dim">${words(say`${count(unreadable)} line[s] of the history cannot be read; [it is|they are] kept.`)}</p>`}
  </details>`;
}

function historyRow(view: View, run: RunSummary, current: boolean): readonly (string | TemplateResult)[] {
  const { words, model } = view;
  const when = new Intl.DateTimeFormat(model.page.locale, { dateStyle: "short", timeStyle: "short" });
  const cost = (value: number | undefined): string => (value === undefined ? "–" : milliseconds(view, value));
  const name = [run.model.split(/[\\/]/).at(-1) ?? "", run.build, run.flags].filter((part) => part !== "");
  return [
    when.format(run.at),
    html`${words(kinds[run.kind])}${run.label === undefined ? nothing : ` “${visibleName(run.label)}”`}${current ? html` <b>${words(say`in use`)}</b>` : nothing}`,
    visibleName(name.join(" ")),
    run.deepest === undefined ? "–" : words(say`${count(run.deepest)}`),
    cost(run.first),
    cost(run.last),
    verdictPill(view, run.verdict),
    run.notes.map((note) => words(note)).join(" "),
  ];
}
