import { reportOf } from "../../core/report/gaugeState";
import { visibleName } from "../../core/visibleName";
import { say, type Text } from "../../core/text";
import type { View } from "../view/view";
import { picturePng } from "./picturePng";
import { tableCsv, tableMarkdown, type PlainTable } from "./tableText";
import { takePicture } from "./takePicture";
import { modelName } from "../../core/report/names";

/** Sends the pictures of a card to the extension, which asks where to. */
export async function savePicture(view: View, card: Element, title: Text): Promise<void> {
  const picture = takePicture(card, { title: view.words(title), facts: factsOf(view) });
  if (picture === undefined) return;
  // a browser without the memory to paint it still has the drawing
  const png = await picturePng(picture).catch(() => undefined);
  view.post({
    type: "save",
    name: `llama-gauge-${card.id}`,
    files: [
      { extension: "svg", content: picture.svg },
      ...(png === undefined ? [] : [{ extension: "png" as const, content: png }]),
    ],
  });
}

/** The same for a table; its English caption names the file. */
export function saveTable(view: View, caption: Text, table: PlainTable): void {
  const subject = caption.text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  view.post({
    type: "save",
    name: `llama-gauge-${subject}`,
    files: [
      { extension: "csv", content: tableCsv(table, view.words) },
      { extension: "md", content: tableMarkdown(table, view.words) },
    ],
  });
}

/** What the report is about and when it was made. */
function factsOf({ model, words }: View): readonly string[] {
  const report = reportOf(model.state);
  if (report === undefined) return [];
  const { locale } = model.page;
  const time = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
  return [
    visibleName(report.scope.label),
    ...(report.model.known ? [visibleName(modelName(report.model.value))] : []),
    words(say`Llama Gauge, ${time.format(report.createdAt)}`),
  ];
}
