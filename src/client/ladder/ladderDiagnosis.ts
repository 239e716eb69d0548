import { window } from "vscode";
import { numberOf, type NumberKind } from "../../core/ladder/diagnosis/diagnosisNumber";
import type { DiagnosisFacts, DiagnosisStep, FactName } from "../../core/ladder/diagnosis/diagnosisStep";
import { logLanguage } from "../../core/protocol/serverRequests";
import { say } from "../../core/text";
import type { Text } from "../../core/text";
import type { LaddersInUse } from "./ladderRuns";
import { showMarkdown } from "../language/languageCommands";
import { bulletList, md, paragraphs, type Markdown } from "../../core/markdown";
import { together } from "../../core/shown";
import { enterText, pick, showingProgress } from "../editor/screen";
import { localized } from "../editor/vscodeText";

type Question = DiagnosisStep & { readonly kind: "ask" };
type Answer = { readonly value: string | boolean | number } | "unknown" | undefined;

/** Why a long context fails: reads what server, log and history say, asks the rest, and shows the one thing to change. */
export async function diagnoseLongContext(
  ladders: Pick<LaddersInUse, "diagnosis">,
  promptTokens: number | undefined,
): Promise<string | undefined> {
  const document = window.activeTextEditor?.document;
  const logText = document?.languageId === logLanguage ? document.getText() : undefined;
  const { facts: read, told } = await showingProgress(
    localized(say`Reading server, log and history`),
    (_, cancelled) =>
      ladders.diagnosis(
        { ...(logText !== undefined && { logText }), ...(promptTokens !== undefined && { promptTokens }) },
        cancelled,
      ),
  );
  const { diagnose } = await import("../../core/ladder/diagnosis/diagnosis");
  let facts: DiagnosisFacts = read;
  const unanswered = new Set<FactName>();
  const answered: Text[] = [];
  for (;;) {
    const step = diagnose(facts, unanswered);
    if (step.kind === "conclusion") {
      await show(step, [...told, ...answered]);
      return step.cause;
    }
    const answer = await ask(step);
    if (answer === undefined) return undefined;
    if (answer === "unknown") unanswered.add(step.fact);
    else {
      facts = { ...facts, [step.fact]: answer.value };
      answered.push(say`Answered: ${step.question} ${labelOf(step, answer.value)}`);
    }
  }
}

function labelOf({ choices }: Question, value: string | boolean | number): Text {
  return choices.find((choice) => choice.value === value)?.label ?? say`${String(value)}`;
}

async function ask(question: Question): Promise<Answer> {
  return question.number === undefined ? choose(question) : enter(question, question.number);
}

async function choose({ question, choices, fact }: Question): Promise<Answer> {
  const items = choices.map(({ value, label }) => ({ label: localized(label), value }));
  const unsure = { label: localized(say`I don't know`), value: undefined };
  const chosen = await pick(fact === "symptom" ? items : [...items, unsure], {
    title: localized(say`Why Does My Long Context Fail?`),
    placeHolder: localized(question),
  });
  if (chosen === undefined) return undefined;
  return chosen.value === undefined ? "unknown" : { value: chosen.value };
}

const units = {
  tokens: say`Tokens, e.g. 65536 or 64K; leave empty if unknown.`,
  seconds: say`Seconds; leave empty if unknown.`,
  share: say`A number such as 0.85, 85 % or 2.5; leave empty if unknown.`,
  bytes: say`GiB, e.g. 1.5; leave empty if unknown.`,
} as const satisfies Record<NumberKind, Text>;

async function enter({ question }: Question, kind: NumberKind): Promise<Answer> {
  const typed = await enterText({
    title: localized(say`Why Does My Long Context Fail?`),
    prompt: together([localized(question), localized(units[kind])], " "),
    ignoreFocusOut: true,
    validateInput: (text) =>
      text.trim() === "" || numberOf(text, kind) !== undefined ? undefined : localized(units[kind]),
  });
  if (typed === undefined) return undefined;
  const value = numberOf(typed, kind);
  return value === undefined ? "unknown" : { value };
}

async function show(
  conclusion: DiagnosisStep & { readonly kind: "conclusion" },
  told: readonly Text[],
): Promise<void> {
  const part = (title: Text, texts: readonly Text[]): readonly Markdown[] =>
    texts.length === 0
      ? []
      : [md`## ${localized(title)}`, bulletList(texts.map((text) => md`${localized(text)}`))];
  await showMarkdown(
    localized(say`Why Does My Long Context Fail?`),
    paragraphs([
      md`**${localized(conclusion.sentence)}**`,
      ...part(say`What to do`, conclusion.actions),
      ...part(say`Why`, conclusion.evidence),
      ...part(say`Evidence`, told),
    ]),
  );
}
