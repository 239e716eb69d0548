import { html, svg, type TemplateResult } from "lit";

const paths = {
  check: svg`<circle cx="8" cy="8" r="6.5" /><path d="M5 8.2 7.2 10.4 11 6" />`,
  warning: svg`<path d="M8 2 14.6 13.5H1.4Z" /><path d="M8 6.5v3.2M8 11.4v.6" />`,
  error: svg`<circle cx="8" cy="8" r="6.5" /><path d="M5.6 5.6l4.8 4.8M10.4 5.6l-4.8 4.8" />`,
  question: svg`<circle cx="8" cy="8" r="6.5" /><path d="M6.2 6.3a1.8 1.8 0 1 1 2.6 1.7c-.6.3-.8.6-.8 1.2M8 11.2v.5" />`,
  room: svg`<path d="M2 2.5h12v11H2ZM2 8.5h7M9 2.5v11M9 6h5" />`,
  memory: svg`<path d="M3.5 3.5h9v9h-9ZM6 3.5v-2M10 3.5v-2M6 14.5v-2M10 14.5v-2M3.5 6h-2M3.5 10h-2M14.5 6h-2M14.5 10h-2" />`,
  measured: svg`<path d="M2 13.5h12M3 11 6.2 6.5l2.6 2.4L13.5 3" />`,
  wait: svg`<circle cx="8" cy="8" r="6.5" /><path d="M8 4.2V8l2.6 1.6" />`,
  conversation: svg`<path d="M2 2.5h9v6H6L3.5 11V8.5H2ZM12.5 6H14v5.5h-1.5V14L10 11.5H7" />`,
  ladder: svg`<path d="M5 1.5v13M11 1.5v13M5 4.5h6M5 8h6M5 11.5h6" />`,
  save: svg`<path d="M8 1.8v8.4M4.6 7 8 10.4 11.4 7M2.5 11.5v2.2h11v-2.2" />`,
  arrow: svg`<path d="M3 8h9.5M9 4.5 12.5 8 9 11.5" />`,
  shield: svg`<path d="M8 1.5 13.5 3.5V8c0 3.2-2.3 5.6-5.5 6.5C4.8 13.6 2.5 11.2 2.5 8V3.5Z" />`,
} as const;

export type IconName = keyof typeof paths;

/** A decorative line icon in the text's colour; the text beside it says the same. */
export function icon(name: IconName): TemplateResult {
  return html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true">${paths[name]}</svg>`;
}
