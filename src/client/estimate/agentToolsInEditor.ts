import { LanguageModelTextPart, LanguageModelToolResult, lm } from "vscode";
import type { AgentQuestions } from "../../app/agents/agentQuestions";
import { agentTools } from "../../core/agents/agentTools";
import type { Deferred } from "../../core/deferred";
import { UserError } from "../../core/userError";
import { toAbortSignal } from "../editor/cancellation";
import { DisposableStore, type Disposable } from "../editor/lifecycle";

/** Lets the editor's language models ask; the tools' texts stand in the manifest, too. */
export function registerAgentTools(questions: Deferred<AgentQuestions>): Disposable {
  const store = new DisposableStore();
  for (const { name } of agentTools) {
    store.add(
      lm.registerTool(`llamaGauge_${name}`, {
        invoke: async ({ input }, token) =>
          new LanguageModelToolResult([
            new LanguageModelTextPart(await answered(questions.ask(name, input, toAbortSignal(token)))),
          ]),
      }),
    );
  }
  return store;
}

/** A model can mend its question where it is told what is wrong with it. */
async function answered(answer: Promise<string>): Promise<string> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
}
