import { agreementOf } from "../../core/bench/comparison";
import { serverArguments } from "../../core/llamaBench/benchArguments";
import { optionsOf, settingsText, type ComparedSettings } from "../../core/bench/comparisonSetup";
import type { AgreementSample } from "../../core/bench/comparison";
import { saltedText } from "../../core/bench/saltedText";
import type { LaunchOptions } from "../../core/launch/launchOptions";
import { withAny } from "../../core/signals";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { Wire } from "../../core/wire";
import { startGuarded } from "../../node/process/guardedProcess";
import { LlamaServerConnection } from "../../node/llamaServer/llamaServerConnection";
import { withLimit } from "../../node/waiting/withLimit";
import { freeLoopbackPort, waitUntilReady } from "../../node/llamaServer/serverStart";

export interface AgreementRequest {
  /** The llama-server to run, twice: once with each value. */
  readonly program: string;
  readonly options: LaunchOptions;
  readonly baseline: ComparedSettings;
  readonly other: ComparedSettings;
  readonly timeoutSeconds: number;
}

const prompts = 4;
/** Long enough that most of what is answered from lies in the cache. */
const promptWords = 300;
const answerTokens = 24;
const context = 2048;

/**
 * Greedy answers to the same prompts with either value, token by token: a KV cache type that breaks the model is found by
 * its answers, however fast it is. Starts a llama-server with each value, one after the other, and leaves none.
 */
export async function sampleAgreement(
  request: AgreementRequest,
  signal: AbortSignal,
): Promise<AgreementSample> {
  const { baseline, other } = request;
  const first = await greedyAnswers(request, baseline, signal);
  return agreementOf(first, await greedyAnswers(request, { ...baseline, ...other }, signal));
}

async function greedyAnswers(
  { program, options, timeoutSeconds }: AgreementRequest,
  settings: ComparedSettings,
  signal: AbortSignal,
): Promise<readonly (readonly number[])[]> {
  const port = await freeLoopbackPort([]);
  const varied = new Set<string>(Object.keys(settings));
  const rest = Object.fromEntries(Object.entries(options).filter(([name]) => !varied.has(name)));
  const url = `http://127.0.0.1:${port}`;
  const gone = new AbortController();
  const log: string[] = [];
  const server = startGuarded(
    program,
    [
      ...serverArguments(rest, context),
      ...optionsOf(settings).flatMap(({ option, flag }) => [flag, settings[option] ?? ""]),
      ...["--host", "127.0.0.1", "--port", String(port), "--offline", "--no-webui"],
    ],
    (_from, line) => {
      if (log.push(line) > 50) log.shift();
    },
  );
  server.ended.then(() => gone.abort()).catch(() => undefined);
  try {
    return await withLimit(signal, timeoutSeconds * 1000, (limited) =>
      withAny([limited, gone.signal], async (running) => {
        await waitUntilReady(url, undefined, running);
        const connection = new LlamaServerConnection(url);
        const answers: (readonly number[])[] = [];
        for (let i = 0; i < prompts; i++) {
          answers.push(await connection.ask(call(i, timeoutSeconds), answerIds, running));
        }
        return answers;
      }),
    );
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof UserError) throw cause;
    throw new UserError(
      "outsideFailed",
      say`llama-server with ${settingsText(settings)} returned no answers to compare: ${log.findLast((line) => /error|fail/i.test(line)) ?? "no message"}`,
      say`Start it manually with this option to see its output.`,
      { cause },
    );
  } finally {
    server.kill();
    await server.ended;
  }
}

function call(seed: number, timeoutSeconds: number) {
  return {
    path: "/completion",
    body: {
      prompt: saltedText(seed + 1, promptWords),
      n_predict: answerTokens,
      temperature: 0,
      ignore_eos: true,
      return_tokens: true,
      cache_prompt: false,
    },
    timeoutSeconds,
  };
}

const answerIds = (body: unknown): readonly number[] =>
  new Wire(body, "/completion").ifFits((reply) => reply.at("tokens").fitting((id) => id.number())) ?? [];
