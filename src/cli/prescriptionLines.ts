import { formatBytes, formatText } from "../core/format";
import type { Prescription, Prescriptions } from "../core/prescription/prescription";

/** What to change, the cheapest first, each with its verdict, memory and cost. */
export function prescriptionLines({ offered, impossible }: Prescriptions): string[] {
  if (offered.length + impossible.length === 0) return [];
  return [
    "",
    ...(offered.length === 0 ? [] : ["What helps, the cheapest change first:"]),
    ...offered.flatMap((each, i) => [`${i + 1}. ${formatText(each.change)}`, ...detailsOf(each)]),
    ...impossible.map(({ change, why }) => `✗ ${formatText(change)}: ${formatText(why)}`),
  ];
}

function detailsOf({ verdict, devices = [], wait, cost, leaveOut }: Prescription): string[] {
  const memory = devices
    .filter(({ totalBytes }) => totalBytes > 0)
    .map(({ name, totalBytes, freeBytes, verdict: held }) =>
      freeBytes === undefined
        ? `${name} ${formatBytes(totalBytes)}`
        : `${name} ${formatBytes(totalBytes)} of ${formatBytes(freeBytes)} ${held ?? ""}`.trimEnd(),
    );
  const files = leaveOut?.files ?? [];
  return [
    `   ${formatText(verdict.sentence)}`,
    ...(memory.length === 0 ? [] : [`   memory ${memory.join(" · ")}`]),
    ...(wait.known ? [] : [`   wait unknown: ${formatText(wait.reason)}`]),
    ...cost.map((line) => `   - ${formatText(line)}`),
    ...files.slice(0, shownFiles).map(({ label }) => `   · ${label}`),
    ...(files.length > shownFiles ? [`   · … and ${String(files.length - shownFiles)} more`] : []),
  ];
}

const shownFiles = 8;
