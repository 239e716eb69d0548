import { formatText } from "../../format";
import { isText } from "../../text";
import type { LadderReport } from "./ladderReport";
import type { LadderHeader } from "../score/record";

/** The whole report with the record's head, for machines; sentences are English. */
export function reportJson(report: LadderReport, header: LadderHeader): string {
  const text = JSON.stringify(
    { ...report, header },
    (_, part: unknown) => (isText(part) ? formatText(part) : part),
    2,
  );
  return `${text}\n`;
}
