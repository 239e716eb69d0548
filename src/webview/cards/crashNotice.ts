import { html, nothing, type TemplateResult } from "lit";
import { crashRiskRemedy, crashRiskText, riskyFiles } from "../../core/report/crashRisk";
import type { GaugeReport } from "../../core/report/gaugeReport";
import { count, say } from "../../core/text";
import { icon } from "./icons";
import type { View } from "../view/view";

const named = 3;

/** Warns before a text that may crash the server is sent; one press takes all such files out of the prompt. */
export function crashNotice({ words, post }: View, report: GaugeReport): TemplateResult | typeof nothing {
  const risky = riskyFiles(report);
  if (risky.length === 0) return nothing;
  const paths = risky.map(({ file }) => file.path);
  const more = risky.length - named;
  return html`<div class="notice risk" role="status">
    ${icon("warning")}
    <div>
      ${risky.slice(0, named).map((file) => html`<p>${words(crashRiskText(file))}</p>`)}
      ${more > 0 ? html`<p>${words(say`and ${count(more)} more`)}</p>` : nothing}
      <p class="dim">${words(crashRiskRemedy)}</p>
    </div>
    <vscode-button secondary @click=${() => post({ type: "leaveOut", paths, out: true })}
      >${words(say`Exclude`)}</vscode-button
    >
  </div>`;
}
