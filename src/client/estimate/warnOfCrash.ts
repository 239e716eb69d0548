import { crashRiskRemedy, crashRiskText, riskyFiles } from "../../core/report/crashRisk";
import type { GaugeReport } from "../../core/report/gaugeReport";
import { together } from "../../core/shown";
import { notify } from "../editor/screen";
import { localized } from "../editor/vscodeText";
import { inBackground } from "../editor/background";

/** Says which of the files that are about to be sent may crash the server. */
export function warnOfCrash(report: GaugeReport | undefined): void {
  const [first] = report === undefined ? [] : riskyFiles(report);
  if (first === undefined) return;
  inBackground(
    notify("warning", together([localized(crashRiskText(first)), localized(crashRiskRemedy)], " ")),
  );
}
