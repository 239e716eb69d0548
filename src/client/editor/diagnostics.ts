import { env, version, workspace } from "vscode";
import { formatText } from "../../core/format";
import { inMarkdown } from "../../core/markdown";
import { joinCommandLine } from "../../core/scripts/joinCommandLine";
import { maskSecrets } from "../../core/launch/maskSecrets";
import { splitCommandLine } from "../../core/scripts/splitCommandLine";
import { reportOf } from "../../core/report/gaugeState";
import type { GaugeState } from "../../core/report/gaugeState";
import { withoutSecrets } from "../../core/withoutSecrets";
import type { Settings } from "../../app/settings";
import type { SettingProblem } from "./settings";

/** What a bug report needs, as Markdown. No text of the user's files, no names of files, no API key. */
export function diagnostics(
  extensionVersion: string,
  state: GaugeState,
  settings: Settings,
  problems: readonly SettingProblem[],
): string {
  const report = reportOf(state);
  const facts: (readonly [string, unknown])[] = [
    ["Llama Gauge", extensionVersion],
    ["VS Code", `${version} (${env.appName}, ${env.remoteName === undefined ? "local" : "remote"})`],
    ["Node", `${process.version} ${process.platform} ${process.arch}`],
    ["Language", env.language],
    ["Workspace", workspace.isTrusted ? "trusted" : "restricted"],
    ["State", state.status],
  ];
  if (report !== undefined) {
    const { acceptance, tokens, server, model, memory } = report;
    facts.push(
      ["Verdict", `${report.verdict.kind}: ${formatText(report.verdict.sentence)}`],
      ["Files", `${tokens.files.length} counted, ${tokens.skipped.length} not, ${tokens.seconds} s`],
      ["Tokenizer", tokens.tokenizer],
      ["Acceptance", { ...acceptance, reasons: acceptance.reasons.map((reason) => formatText(reason)) }],
      ["Server", server.known ? server.value : formatText(server.why)],
      ["Model", model.known ? model.value : formatText(model.why)],
      ["Memory", memory.known ? memory.value : formatText(memory.why)],
    );
  }
  facts.push(["Settings", withoutKeys(settings)], ["Unusable settings", problems]);
  return facts
    .map(([name, value]) => `- **${name}:** ${typeof value === "string" ? inMarkdown(value) : inCode(value)}`)
    .map(withoutSecrets)
    .join("\n");
}

/** JSON can say the character that would end it otherwise. */
const inCode = (value: unknown): string => `\`${JSON.stringify(value).replaceAll("`", String.raw`\u0060`)}\``;

/** A command line in the settings may have a key in it. */
function withoutKeys(settings: Settings): Settings {
  const words = splitCommandLine(settings.serverArguments, "posix");
  return { ...settings, serverArguments: joinCommandLine(maskSecrets(words), "posix") };
}
