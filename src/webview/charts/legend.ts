import { type TemplateResult, html } from "lit";

/** Colour, name and amount of the parts of a bar. */
export function legend(
  items: readonly { readonly kind: string; readonly name: string; readonly amount: string }[],
): TemplateResult {
  return html`<ul class="legend">
    ${items.map(
      ({ kind, name, amount }) =>
        html`<li>
          <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
            <rect class="part ${kind}" width="10" height="10" rx="2" /></svg
          >${name} <b>${amount}</b>
        </li>`,
    )}
  </ul>`;
}
