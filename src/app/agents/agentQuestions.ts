import { estimateAnswer, planAnswer, stateAnswer } from "../../core/agents/agentAnswers";
import { forecastAnswer } from "../../core/agents/forecastAnswer";
import { filesQuestion } from "../../core/agents/agentInput";
import type { AgentToolName } from "../../core/agents/agentTools";
import { valueOf } from "../../core/known";
import type { Estimated, Situation } from "../../core/report/situation";
import { say, seconds } from "../../core/text";
import { UserError } from "../../core/userError";
import { insideRoots } from "../../node/files/insideRoots";
import { readServerActivity } from "../../node/llamaServer/serverActivity";
import { TimeLimitError } from "../../node/waiting/within";
import type { OnceRead } from "../logs/liveLedger";
import { withLimit } from "../../node/waiting/withLimit";

/** What an agent's questions are answered from. */
export interface AgentHost {
  /** Absolute paths of the folders an agent may ask about. */
  roots(): readonly string[];
  /** Counts and judges what is at absolute paths; keeps nothing. */
  estimate(paths: readonly string[], signal: AbortSignal): Promise<Estimated>;
  situation(signal: AbortSignal): Promise<Situation>;
  apiKey(url: string): Promise<string | undefined>;
  /** What the log of the server in use says now. */
  log(signal: AbortSignal): Promise<OnceRead | undefined>;
}

/** An agent that waits longer has given up. */
const patienceMs = 120_000;

/** Answers a coding agent in words that a small model can read. */
export class AgentQuestions {
  constructor(private readonly host: AgentHost) {}

  /**
   * Only files below the roots are read, and nothing is changed or sent, other than to the llama-server that counts.
   * @throws UserError where the question cannot be answered, an abort where the signal fired
   */
  async ask(tool: AgentToolName, input: unknown, signal: AbortSignal): Promise<string> {
    try {
      return await withLimit(signal, patienceMs, (its) => answer(tool, input, this.host, its));
    } catch (error) {
      if (!(error instanceof TimeLimitError)) throw error;
      throw new UserError(
        "timeout",
        say`Counting took longer than ${seconds(patienceMs / 1000)}.`,
        say`Name fewer files, or a smaller folder.`,
        { cause: error },
      );
    }
  }
}

async function answer(
  tool: AgentToolName,
  input: unknown,
  host: AgentHost,
  signal: AbortSignal,
): Promise<string> {
  if (tool === "server_state") return state(host, signal);
  if (tool === "forecast") return forecastAnswer(await host.log(signal), Date.now());
  const { paths, details, ...budget } = filesQuestion(input);
  const { report } = await host.estimate(await insideRoots(paths, host.roots(), signal), signal);
  return tool === "estimate_context" ? estimateAnswer(report, details) : planAnswer(report, details, budget);
}

async function state(host: AgentHost, signal: AbortSignal): Promise<string> {
  const situation = await host.situation(signal);
  const facts = valueOf(situation.server)?.facts;
  if (facts === undefined) return stateAnswer(situation, undefined);
  const { url, role, model } = facts;
  const apiKey = await host.apiKey(url);
  const activity = await readServerActivity(
    {
      ...{ url, counters: false },
      ...(apiKey !== undefined && { apiKey }),
      ...(role === "router" && { model: model.id }),
    },
    signal,
  );
  return stateAnswer(situation, activity.slots);
}
