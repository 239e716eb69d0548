import "./panel.css";
import { render } from "lit";
import { applyMessage } from "../core/protocol/panelModel";
import type { PanelSection } from "../core/protocol/panelMessages";
import { Host } from "./page/host";
import { keep, restore } from "./page/keptState";
import { page } from "./page/page";
import type { Ui } from "./view/view";
import { wordsOf } from "./view/words";

const place = document.getElementById("page");
if (place !== null) start(place);

function start(place: HTMLElement): void {
  const host = new Host();
  let { model, ui } = restore(host.state);
  let frame = 0;

  const draw = (): void => {
    frame = 0;
    const view = { model, ui, words: wordsOf(model.page), post: host.post.bind(host), change };
    render(page(view), place);
  };
  const redraw = (): void => {
    if (frame === 0) frame = requestAnimationFrame(draw);
  };
  function change(changes: Partial<Ui>): void {
    ui = { ...ui, ...changes };
    host.state = keep(model, ui);
    redraw();
  }

  new ResizeObserver(() => {
    const width = pictureWidth(place);
    if (width === ui.width) return;
    ui = { ...ui, width };
    redraw();
  }).observe(place);

  host.onMessage((message) => {
    const before = model.report;
    model = applyMessage(model, message);
    if (model.report !== before) host.state = keep(model, ui);
    if (message.type === "whatIf" && message.answer === undefined) ui = { ...ui, whatIf: {} };
    if (message.type === "page") document.documentElement.lang = message.locale;
    if (message.type === "reveal") requestAnimationFrame(() => reveal(message.section));
    redraw();
  });
  if (model.report !== undefined) redraw();
  host.post({ type: "ready" });
  // what was tried before a reload
  if (Object.keys(ui.whatIf).length > 0) host.post({ type: "whatIf", change: ui.whatIf });
  if (ui.contextTable) host.post({ type: "contextTable", open: true });
}

/** Width inside a full-wide card: page and card padding and borders off (as in panel.css). */
function pictureWidth(place: HTMLElement): number {
  const outer = Math.min(place.clientWidth, 1180);
  return Math.max(240, outer - (outer < 560 ? 24 : 48) - 34);
}

function reveal(section: PanelSection): void {
  const card = document.getElementById(section);
  card?.scrollIntoView({ block: "start" });
  card?.focus({ preventScroll: true });
}
