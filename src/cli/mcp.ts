import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { AgentQuestions, type AgentHost } from "../app/agents/agentQuestions";
import { LiveLedger } from "../app/logs/liveLedger";
import { gather } from "../app/situation";
import { agentTools } from "../core/agents/agentTools";
import { defaultWalkOptions } from "../core/files/files";
import { valueOf } from "../core/known";
import { estimate } from "../core/report/estimate";
import type { Situation } from "../core/report/situation";
import { defaultPatience } from "../core/report/wait";
import { defaultPackTemplate } from "../core/tokens/pack";
import { UserError } from "../core/userError";
import { launchedModelFile } from "../node/gguf/launchedModel";
import { workspaceFiles } from "../node/files/workspaceFiles";
import { wholeNumber } from "./arguments";
import type { CliCommand, CliContext } from "./command";
import { historyOf, keptSetup, openCaches, version, withHistory, type HistoryFlags } from "./kept";
import {
  givenLaunch,
  programsOf,
  withPrograms,
  type ProgramFlags,
  namedServer,
  serverAccess,
} from "./launch";
import { existing } from "./walkFlags";

interface McpOptions extends HistoryFlags, ProgramFlags {
  readonly server?: string;
  readonly log?: string;
  readonly root: readonly string[];
  readonly answerReserve: number;
}

export const addMcp: CliCommand = (program, context) => {
  const command = program
    .command("mcp")
    .description("answer a coding agent over the Model Context Protocol (stdin and stdout)")
    .option("--server <url>", "this llama-server, instead of the one that runs on this machine")
    .option(
      "--root <folder>",
      "a folder the agent may ask about, instead of the current one; can be repeated",
      (folder: string, before: readonly string[]) => [...before, folder],
      [],
    )
    .option(
      "--log <file>",
      "log of the llama-server, for the forecast, instead of the one its own --log-file names",
    )
    .option("--answer-reserve <n>", "tokens to reserve for the answer", wholeNumber, 2048);
  withHistory(withPrograms(command), "folder of saved measurements").action(async (options: McpOptions) => {
    const host = await agentHost(options, context);
    await serve(new AgentQuestions(host), context.signal);
  });
};

/** Talks until the other side closes standard input. */
async function serve(questions: AgentQuestions, signal: AbortSignal): Promise<void> {
  // the schemas are data, shared with the editor: no second description in the form this class takes
  const { server } = new McpServer({ name: "llama-gauge", version }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: agentTools.map((tool) => ({
      ...tool,
      annotations: { title: tool.title, readOnlyHint: true, openWorldHint: false },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal: cancelled }) => {
    const tool = agentTools.find(({ name }) => name === params.name);
    if (tool === undefined) return refusal(`There is no tool ${params.name.slice(0, 100)}.`);
    try {
      return {
        content: [{ type: "text", text: await questions.ask(tool.name, params.arguments ?? {}, cancelled) }],
      };
    } catch (error) {
      if (error instanceof UserError) return refusal(error.message);
      throw error;
    }
  });
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
    process.stdin.once("end", resolve).once("close", resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await server.connect(new StdioServerTransport());
  await closed;
  await server.close();
}

const refusal = (
  text: string,
): { readonly isError: true; readonly content: [{ type: "text"; text: string }] } => ({
  isError: true,
  content: [{ type: "text", text }],
});

async function agentHost(options: McpOptions, context: CliContext): Promise<AgentHost> {
  const roots = await existing(options.root.length === 0 ? ["."] : options.root);
  const launch = await givenLaunch(context);
  const programs = await programsOf(options);
  // what a server has loaded is the server's to say
  const named = options.server !== undefined;
  const modelFile = named ? undefined : await launchedModelFile(launch, context.signal);
  const caches = openCaches();
  const kept = keptSetup(caches, historyOf(options));
  const server = options.server === undefined ? { processes: true } : namedServer(options.server);
  const situation = (signal: AbortSignal): Promise<Situation> =>
    gather(
      {
        ...{ server, launch, programs, devices: "measure", fitProbe: caches.fitProbe },
        ...(modelFile !== undefined && { modelFile }),
        ...kept,
      },
      signal,
    );
  let url = options.server;
  const ledger = new LiveLedger({
    chosenLog: () => options.log ?? "",
    attachedServer: () => undefined,
    serverUrl: () => url,
    trusted: () => true,
  });
  return {
    roots: () => roots,
    situation,
    log: async (signal) => {
      // of several servers on this machine the one that the other tools tell of
      if (!named && options.log === undefined) url = valueOf((await situation(signal)).server)?.facts.url;
      return ledger.read(signal);
    },
    estimate: async (paths, signal) => {
      const its = await situation(signal);
      const report = await estimate(
        {
          scope: { label: "the question's files", roots: paths },
          walk: { ...defaultWalkOptions, workspaceFolders: roots },
          pack: defaultPackTemplate,
          answerReserve: options.answerReserve,
          patienceSeconds: defaultPatience,
        },
        its,
        { files: workspaceFiles(), clock: Date },
        () => undefined,
        signal,
      );
      return { report, situation: its };
    },
    apiKey: (url) => Promise.resolve(named ? serverAccess(url).apiKey : undefined),
  };
}
