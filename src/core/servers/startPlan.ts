import type { ServerFacts } from "../acceptance/serverFacts";
import { say } from "../text";
import { UserError } from "../userError";
import { parseArguments } from "../launch/commandLine";
import { serverUrls } from "./runningServers";
import { optionOfFlag, serverOptions } from "../launch/serverOptions";

/** How one llama-server is to be started. */
export interface StartPlan {
  /** Without any key or token: other users of the machine can read arguments. */
  readonly arguments: readonly string[];
  /** Keys and tokens, as llama-server reads them from its environment. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly apiKey?: string;
  /** Where it will answer. */
  readonly url: string;
  readonly logFile: string;
}

/** What a server that was just started has come up as. */
export type Readiness =
  | { readonly kind: "ready"; readonly facts: ServerFacts }
  /** It answers, but there is nothing to ask yet: a router without a loaded model, or another key. */
  | { readonly kind: "answers"; readonly error: UserError };

export interface StartSettings {
  /** Used where the arguments name none. */
  readonly port: number;
  readonly logFile: string;
  /** Path of a model, used where the arguments name none. */
  readonly model?: string;
  /** Variables the server would inherit. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Completes the arguments of llama-server so that its address and its log are known.
 * @throws UserError for arguments that llama-server would refuse, that name no model, or with which it is not to be asked
 */
export function planStart(argv: readonly string[], settings: StartSettings): StartPlan {
  const { options, problems, given } = parseArguments(argv, settings.environment);
  const refused = problems.find(({ severity }) => severity === "error");
  if (refused !== undefined) {
    throw new UserError("invalidInput", refused.message, say`Correct it, then start again.`);
  }
  const { args, secrets } = withoutSecrets(argv);
  const names = new Set(given.map(({ option }) => option.name));
  if (!namesModel(names)) {
    if (settings.model === undefined) {
      throw new UserError(
        "invalidInput",
        say`No model is specified.`,
        say`Add -m FILE to llamaGauge.serverArguments, or choose a model file (llamaGauge.model).`,
      );
    }
    args.push("--model", settings.model);
  }
  if (options.port === undefined) args.push("--port", String(settings.port));
  const ownLog = valueOf(args, "--log-file") ?? settings.environment["LLAMA_ARG_LOG_FILE"];
  if (ownLog === undefined) args.push("--log-file", settings.logFile);
  const [url] = serverUrls({ ...options, port: options.port ?? settings.port });
  if (url === undefined) {
    throw new UserError(
      "unsupported",
      say`With these arguments the address of llama-server cannot be predicted.`,
      say`Give it its own --port, and a --host that is not a socket.`,
    );
  }
  const key = secrets["LLAMA_API_KEY"] ?? settings.environment["LLAMA_API_KEY"];
  const [apiKey] = (key ?? "").split(",");
  return {
    arguments: args,
    secrets,
    ...(apiKey !== undefined && apiKey !== "" && { apiKey }),
    url,
    logFile: ownLog ?? settings.logFile,
  };
}

/** Options each of which says what is served: one model, or a router's models. */
const modelSources = [
  "--model",
  "--model-url",
  "--hf-repo",
  "--docker-repo",
  "--models-dir",
  "--models-preset",
] as const;

/** `--gpt-oss-20b-default` and its like bring a model of their own; `--spec-default` does not. */
function namesModel(names: ReadonlySet<string>): boolean {
  return (
    modelSources.some((name) => names.has(name)) ||
    Array.from(names).some((name) => /-(default|spec)$/.test(name) && name !== "--spec-default")
  );
}

function withoutSecrets(argv: readonly string[]): { args: string[]; secrets: Record<string, string> } {
  const args: string[] = [];
  const secrets: Record<string, string> = {};
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? "";
    const option = optionOfFlag(word)?.option;
    const value = argv[index + 1];
    if (option?.secret === true && option.env !== undefined && value !== undefined) {
      secrets[option.env] = value;
      index++;
    } else args.push(word);
    // the value of another option may look like a secret's flag
    if (option !== undefined && !option.secret && option.value.kind !== "flag" && value !== undefined) {
      args.push(value);
      index++;
    }
  }
  return { args, secrets };
}

/** Value of an option's last occurrence. */
function valueOf(argv: readonly string[], name: string): string | undefined {
  const wanted = serverOptions.find((option) => option.name === name);
  const index = argv.findLastIndex((word) => optionOfFlag(word)?.option === wanted);
  return index < 0 ? undefined : argv[index + 1];
}
