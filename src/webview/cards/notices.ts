import { html, nothing, type TemplateResult } from "lit";
import type { EstimateProgress } from "../../core/report/gaugeState";
import { count, say, type Text } from "../../core/text";
import { icon } from "./icons";
import { commandButton } from "./parts";
import type { View } from "../view/view";

/** What stands between the reader and a fresh report: counting, failed, stale, restricted. */
export function notices(view: View): TemplateResult {
  const { state, page } = view.model;
  return html`${page.trusted ? nothing : restricted(view)}
  ${state.status === "counting" ? counting(view, state.progress) : nothing}
  ${state.status === "failed" ? failed(view, state.failure.problem, state.failure.remedy) : nothing}
  ${state.status === "ready" && state.stale ? stale(view, state.report.createdAt) : nothing}`;
}

function counting(view: View, progress: EstimateProgress): TemplateResult {
  const { filesDone, filesFound, tokens } = progress;
  const stage: Record<EstimateProgress["stage"], Text> = {
    listing: say`Listing files: ${count(filesFound)} found`,
    counting: say`Counting: ${count(filesDone)} of ${count(filesFound)} file[s], ${count(tokens)} token[s]`,
    judging: say`Checking how much one request may hold`,
  };
  const known = progress.stage === "counting" && filesFound > 0;
  return html`<div class="notice counting" role="status">
    <div>
      <p>${view.words(stage[progress.stage])}</p>
      ${
        known
          ? html`<progress
              max=${filesFound}
              value=${filesDone}
              aria-label=${view.words(say`Files counted`)}
            ></progress>`
          : html`<progress aria-label=${view.words(say`Working`)}></progress>`
      }
    </div>
    ${commandButton(view, "cancel", say`Cancel`)}
  </div>`;
}

function failed(view: View, problem: Text, remedy: Text): TemplateResult {
  return html`<div class="notice failed" role="alert">
    ${icon("error")}
    <div>
      <p>${view.words(problem)}</p>
      <p class="dim">${view.words(remedy)}</p>
    </div>
    ${commandButton(view, "refresh", say`Try again`, true)} ${commandButton(view, "showLog", say`Show log`)}
  </div>`;
}

function stale(view: View, createdAt: number): TemplateResult {
  const time = new Intl.DateTimeFormat(view.model.page.locale, { timeStyle: "short" }).format(createdAt);
  return html`<div class="notice stale" role="status">
    ${icon("wait")}
    <div><p>${view.words(say`Something has changed since this was counted at ${time}.`)}</p></div>
    ${commandButton(view, "refresh", say`Refresh`, true)}
  </div>`;
}

function restricted(view: View): TemplateResult {
  return html`<div class="notice restricted">
    ${icon("shield")}
    <div>
      <p>${view.words(say`This workspace is not trusted.`)}</p>
      <p class="dim">
        ${view.words(
          say`Files are read and counted, but no programs are started, and addresses and paths from the workspace's settings are not used.`,
        )}
      </p>
    </div>
    ${commandButton(view, "manageTrust", say`Manage trust`)}
  </div>`;
}
