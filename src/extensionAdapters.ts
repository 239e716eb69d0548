import { workspace } from "vscode";
import type { Outside } from "./client/commandTable";
import type { EstimateRequest, Estimator } from "./client/estimator";
import type { ApiKeys } from "./client/secrets";
import type { Settings } from "./client/settings";
import type { SettingsStore } from "./client/settingsStore";
import { formatText } from "./core/format";
import type { LaunchOptions } from "./core/launch/launchOptions";
import type { FileSource, Log } from "./core/ports";
import type { FileRef, WalkOptions } from "./core/tokens/files";
import type { PackTemplate } from "./core/tokens/pack";
import { discoverServers, gatherPartsAskingForKey, lockedServer, serverOptions } from "./extensionServers";
import type { Setup } from "./node/estimateParts";
import type { GgufTokenizer } from "./node/ggufTokenizer";

export interface AdapterParts {
  readonly settings: SettingsStore;
  readonly keys: ApiKeys;
  readonly log: Log;
  /** Folder of ours for what is compiled once. */
  readonly cacheFolder: string;
}

/** The extension's ways to the outside. What is behind them is loaded at its first use. */
export function extensionAdapters(parts: AdapterParts): {
  readonly estimator: Estimator;
  readonly outside: Outside;
} {
  const { settings } = parts;
  return {
    estimator: estimatorOf(parts),
    outside: {
      discoverServers: (signal) => discoverServers(settings.value, signal),
      findModels: async (signal) => {
        const { findModels } = await import("./node/modelFinder");
        return findModels({ folders: settings.value.modelFolders }, signal);
      },
      packPrompt: (request, signal) => packedPrompt(request, settings.value, signal),
      lockedServer,
      now: Date.now,
    },
  };
}

function estimatorOf({ settings, keys, log, cacheFolder }: AdapterParts): Estimator {
  return async (request, signal, onProgress) => {
    const values = settings.value;
    const { estimate } = await import("./core/report/estimate");
    const { openGgufTokenizer } = await import("./node/ggufTokenizer");
    const opened: GgufTokenizer[] = [];
    const setup: Setup = {
      files: await filesOf(request),
      server: await serverOptions(values, keys),
      launch: await launchOptions(values, log),
      devices: "measure",
      programs: workspace.isTrusted ? programsOf(values) : "none",
      openVocabulary: async (path, openSignal) => {
        const tokenizer = await openGgufTokenizer(path, { signal: openSignal, cacheDir: cacheFolder });
        opened.push(tokenizer);
        return tokenizer;
      },
      ...(values.model !== "" && { modelPath: values.model }),
    };
    try {
      return await estimate(
        {
          scope: { label: request.label, roots: request.roots },
          walk: walkOptions(values),
          pack: packTemplate(values),
          answerReserve: values.answerReserveTokens,
        },
        await gatherPartsAskingForKey(setup, keys, signal),
        onProgress,
        signal,
      );
    } finally {
      await Promise.all(opened.map((tokenizer) => tokenizer.close()));
    }
  };
}

async function filesOf({ source }: EstimateRequest): Promise<FileSource> {
  if (source !== undefined) return source;
  const { workspaceFiles } = await import("./node/workspaceFiles");
  return workspaceFiles();
}

function walkOptions(settings: Settings): WalkOptions {
  return {
    exclude: [...settings.filesExclude, ...settings.exclude],
    useIgnoreFiles: settings.useIgnoreFiles,
    maxFileBytes: settings.maxFileBytes,
    maxFiles: settings.maxFiles,
    workspaceFolders: (workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath),
  };
}

function programsOf({ llamaCppFolder }: Settings): { readonly folder?: string } {
  return llamaCppFolder === "" ? {} : { folder: llamaCppFolder };
}

function packTemplate({ packTemplate: format, packOrder: order }: Settings): PackTemplate {
  return { format, order };
}

/** A command line as it would be typed in the shell of this system. */
async function launchOptions({ serverArguments }: Settings, log: Log): Promise<LaunchOptions> {
  const { parseArguments } = await import("./core/launch/commandLine");
  const { splitCommandLine } = await import("./core/launch/splitCommandLine");
  const shell = process.platform === "win32" ? "powershell" : "posix";
  const { options, problems } = parseArguments(splitCommandLine(serverArguments, shell), process.env);
  for (const { message } of problems) log.warn(`llamaGauge.serverArguments: ${formatText(message)}`);
  return options;
}

/** The text that an estimate is about, as it would be sent. */
async function packedPrompt(
  request: EstimateRequest,
  settings: Settings,
  signal: AbortSignal,
): Promise<string> {
  const { packText } = await import("./core/tokens/pack");
  const files = await filesOf(request);
  const listed: FileRef[] = [];
  for await (const item of files.list(request.roots, walkOptions(settings), signal)) {
    if (item.kind === "file") listed.push(item.file);
  }
  const pieces: string[] = [];
  for await (const piece of packText(listed, packTemplate(settings), files, signal)) pieces.push(piece);
  return pieces.join("");
}
