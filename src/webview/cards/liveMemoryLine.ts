import { html, nothing, type TemplateResult } from "lit";
import { bytes, say } from "../../core/text";
import type { View } from "../view/view";

/** What is measured of this machine while somebody looks. */
export function liveMemory(view: View): TemplateResult | typeof nothing {
  const { live, page } = view.model;
  if (live === undefined) return nothing;
  const { words } = view;
  const time = new Intl.DateTimeFormat(page.locale, { timeStyle: "medium" }).format(live.at);
  const { server } = live;
  return html`<p class="dim live">
    <span class="pill measured" title=${words(say`measured on this machine`)}>${words(say`now`)}</span>
    ${[...live.devices, live.host].map(
      ({ name, freeBytes, totalBytes }) =>
        html`<span>${words(say`${name}: ${bytes(freeBytes)} of ${bytes(totalBytes)} free`)}</span> `,
    )}
    ${
      server === undefined
        ? nothing
        : html`<span
              >${words(say`llama-server (process ${String(server.pid)}) uses ${bytes(server.residentBytes)} of host memory, including mapped weights.`)}</span
            >${server.devices?.map(
              ({ name, bytes: size }) =>
                html` <span>${words(say`llama-server uses ${bytes(size)} of ${name}.`)}</span>`,
            )}`
    }
    <span>${words(say`Measured at ${time}, every few seconds while this is visible.`)}</span>
  </p>`;
}
