import { Uri, workspace } from "vscode";
import type { EstimateRequest, Estimator, Renewed } from "./client/estimate/estimator";
import type { ApiKeys } from "./client/servers/apiKeys";
import type { Settings } from "./app/settings";
import type { SettingsStore } from "./client/editor/settingsStore";
import { unsavedTexts } from "./client/estimate/unsavedTexts";
import type { ProbeCallbacks } from "./client/speed/depthProbe";
import type { ProbeReport } from "./core/bench/probeReport";
import { formatText } from "./core/format";
import type { LaunchOptions } from "./core/launch/launchOptions";
import type { Situation } from "./core/report/situation";
import type { FileRef, WalkOptions, FileSource } from "./core/files/files";
import type { PackTemplate } from "./core/tokens/pack";
import type { LaunchChange } from "./core/launch/launchChange";
import type { ContextTable } from "./core/memory/budget/contextTable";
import type { GaugeReport } from "./core/report/gaugeReport";
import type { Judged } from "./core/report/whatIf";
import { countingMayCrash, isExact } from "./core/tokens/tokenCount";
import { gatherPartsAskingForKey, serverOptions, type ServersNearby } from "./extensionServers";
import type { FitProbe } from "./node/machine/fitProbe";
import type { HistoryStore } from "./app/historyStore";
import type { OpenVocabularies } from "./node/tokenizer/openVocabularies";
import type { SharedWork } from "./node/waiting/sharedWork";
import type { Log } from "./core/log";
import type { CountCache } from "./core/tokens/keptCount";
import type { Tokenizer } from "./core/tokens/tokenizer";

export interface EstimatesOptions {
  readonly settings: SettingsStore;
  readonly keys: ApiKeys;
  readonly log: Log;
  /** Folder of ours for what is compiled, counted or measured once. */
  readonly cacheFolder: string;
  /** Of the product: other code may count otherwise. */
  readonly version: string;
  readonly nearby: ServersNearby;
}

interface Gathered {
  readonly settings: Settings;
  readonly parts: Situation;
}

/** Makes reports, and keeps open between them what is expensive to open. What is behind it is loaded at its first use. */
export class Estimates {
  private vocabularies: Promise<OpenVocabularies> | undefined;
  private readonly caches = new Map<string, Promise<CountCache>>();
  private gathered: Gathered | undefined;
  private probed: Promise<FitProbe> | undefined;
  private tokenizer: Tokenizer | undefined;
  private excludesFile: SharedWork<string | undefined> | undefined;

  constructor(private readonly options: EstimatesOptions) {}

  readonly estimator: Estimator = async (request, signal, onProgress, kind) => {
    const settings = this.options.settings.value;
    const { chooseTokenizer, estimate } = await import("./core/report/estimate");
    const { roots, source } = await renewed(request, signal);
    const files = source ?? (await this.files(signal));
    const known = kind === "again" && this.gathered?.settings === settings ? this.gathered.parts : undefined;
    const parts = { ...(known ?? (await this.gather(settings, files, signal))), files };
    this.gathered = { settings, parts };
    const tokenizer = chooseTokenizer(parts);
    this.tokenizer = isExact(tokenizer.identity) ? tokenizer : undefined;
    return estimate(
      {
        scope: { label: request.label, roots },
        walk: walkOptions(settings),
        pack: packTemplate(settings),
        answerReserve: settings.answerReserveTokens,
        ...(request.leftOut !== undefined && { leftOut: request.leftOut }),
      },
      parts,
      onProgress,
      signal,
    );
  };

  /** The text that an estimate is about, as it would be sent. */
  async packPrompt(request: EstimateRequest, signal: AbortSignal): Promise<string> {
    const settings = this.options.settings.value;
    const { packText } = await import("./core/tokens/pack");
    const { roots, source } = await renewed(request, signal);
    const files = source ?? (await this.files(signal));
    const leftOut = new Set(request.leftOut);
    const listed: FileRef[] = [];
    for await (const item of files.list(roots, walkOptions(settings), signal)) {
      if (item.kind === "file" && !leftOut.has(item.file.path)) listed.push(item.file);
    }
    const pieces: string[] = [];
    for await (const piece of packText(listed, packTemplate(settings), files, signal)) pieces.push(piece);
    return pieces.join("");
  }

  /** The report with other launch options, from what the last estimate gathered. */
  async whatIf(report: GaugeReport, change: LaunchChange): Promise<Judged | undefined> {
    const { whatIf } = await import("./core/report/whatIf");
    return this.gathered && whatIf(report, this.gathered.parts, change);
  }

  /** What every context costs with every KV type, the other options changed like this. */
  contextTable(change: LaunchChange): ContextTable | undefined {
    const parts = this.gathered?.parts;
    return parts?.budgets?.table({ ...parts.launch, ...change });
  }

  /** The file of the model the last estimate was about. */
  get modelPath(): string | undefined {
    return this.gathered?.parts.launch.model;
  }

  /** Tokens of a text; undefined where the last estimate left no exact tokenizer behind, or it may crash on the text. */
  async countText(text: string, signal: AbortSignal): Promise<number | undefined> {
    const { tokenizer } = this;
    if (tokenizer === undefined) return undefined;
    const { longestRun } = await import("./core/tokens/longRuns");
    if (countingMayCrash(tokenizer.identity, longestRun(new TextEncoder().encode(text)))) return undefined;
    const [counted] = await tokenizer.count([text], signal);
    return counted?.tokens;
  }

  /** Everything that is known of the setup an estimate would go to. */
  async surroundings(signal: AbortSignal): Promise<Situation> {
    return this.gather(this.options.settings.value, await this.files(signal), signal);
  }

  /** What was known of server, model and machine when the last report was made. */
  get lastParts(): Situation | undefined {
    return this.gathered?.parts;
  }

  /**
   * Measures the server an estimate goes to, else the chosen model with llama-bench; the next estimate uses what was
   * found.
   */
  async probe(report: ProbeCallbacks, signal: AbortSignal): Promise<ProbeReport> {
    const settings = this.options.settings.value;
    const parts = await this.gather(settings, await this.files(signal), signal);
    const { server, launch } = parts;
    const budget = { budgetSeconds: settings.probeSeconds };
    if (!server.known) {
      const { benchProbe } = await import("./app/benchSetup");
      const host = { settings: () => settings, trusted: () => workspace.isTrusted };
      return benchProbe(parts, host, report, await this.history(), signal);
    }
    const { probeAndRemember } = await import("./app/probe");
    const { url, role, model } = server.value.facts;
    const apiKey = await this.options.keys.get(url);
    return probeAndRemember(
      {
        url,
        launch,
        ...budget,
        ...report,
        ...(apiKey !== undefined && { apiKey }),
        ...(role === "router" && { model: model.id }),
      },
      await this.history(),
      signal,
    );
  }

  dispose(): void {
    void this.vocabularies?.then((opened) => opened.close());
    this.vocabularies = undefined;
  }

  private async gather(settings: Settings, files: FileSource, signal: AbortSignal): Promise<Situation> {
    const { keys, log } = this.options;
    const model = settings.model === "" ? {} : { modelPath: settings.model };
    const vocabularies = await this.openVocabularies();
    const openVocabulary: OpenVocabularies["get"] = (path, itsSignal) => vocabularies.get(path, itsSignal);
    const attached = this.options.nearby.attached();
    const parts = await gatherPartsAskingForKey(
      {
        files,
        server: await serverOptions(settings, keys, this.options.nearby),
        launch: await launchOptions(settings, log),
        devices: "measure",
        ...(attached !== undefined && { serverLog: attached.logFile }),
        fitProbe: await this.fitProbe(),
        probePatience: 3000,
        ...(settings.marginBytes !== undefined && { marginBytes: settings.marginBytes }),
        programs: workspace.isTrusted ? programsOf(settings) : "none",
        openVocabulary,
        history: await this.history(),
        ...model,
      },
      keys,
      signal,
    );
    const { calibratedParts } = await import("./app/tokenizerChoice");
    const calibrated = await calibratedParts(parts, { openVocabulary, ...model }, signal);
    return { ...calibrated, countCache: (fingerprint) => this.countCache(fingerprint) };
  }

  /** What llama-fit-params said is remembered between estimates. */
  private fitProbe(): Promise<FitProbe> {
    this.probed ??= import("./node/machine/fitProbe").then(({ FitProbe: Probe }) => new Probe());
    return this.probed;
  }

  private async history(): Promise<HistoryStore> {
    const { HistoryStore: Store } = await import("./app/historyStore");
    return new Store(this.options.cacheFolder);
  }

  private openVocabularies(): Promise<OpenVocabularies> {
    this.vocabularies ??= (async () => {
      const { OpenVocabularies: Opened } = await import("./node/tokenizer/openVocabularies");
      const { openGgufTokenizer } = await import("./node/tokenizer/ggufTokenizer");
      const { cacheFolder: cacheDir, log } = this.options;
      const onCrash = (cause: Error): void =>
        log.error("A counting thread died; its work is done again", cause);
      return new Opened((file, signal) => openGgufTokenizer(file, { signal, cacheDir, onCrash }));
    })();
    return this.vocabularies;
  }

  private countCache(fingerprint: string): Promise<CountCache> {
    const opened = this.caches.get(fingerprint) ?? this.openCountCache(fingerprint);
    this.caches.clear();
    this.caches.set(fingerprint, opened);
    return opened;
  }

  private async openCountCache(fingerprint: string): Promise<CountCache> {
    const { openCountCache } = await import("./node/tokenizer/countCache");
    const { cacheFolder: folder, version } = this.options;
    return openCountCache({ folder, fingerprint: `${version} ${fingerprint}` });
  }

  /** The files on disk as VS Code reads them, with what is not saved yet as it stands on screen. */
  private async files(signal: AbortSignal): Promise<FileSource> {
    const { workspaceFiles } = await import("./node/files/workspaceFiles");
    const { overlayFiles } = await import("./core/tokens/overlayFiles");
    const globalExcludesFile = await this.globalExcludesFile(signal);
    const decodeForeign = async (bytes: Uint8Array, file: string): Promise<string> =>
      workspace.decode(bytes, { uri: Uri.file(file) });
    const onDisk = workspaceFiles({
      decodeForeign,
      ...(globalExcludesFile !== undefined && { globalExcludesFile }),
    });
    return overlayFiles(onDisk, unsavedTexts());
  }

  /** The user's own ignore file; git is asked once, and not in folders nobody trusts. */
  private async globalExcludesFile(signal: AbortSignal): Promise<string | undefined> {
    const folder = workspace.workspaceFolders?.[0]?.uri;
    if (!workspace.isTrusted || folder?.scheme !== "file") return undefined;
    const { globalExcludesFile } = await import("./node/files/gitChanges");
    const { SharedWork: Shared } = await import("./node/waiting/sharedWork");
    if (this.excludesFile?.abandoned !== false) {
      this.excludesFile = new Shared((its) => globalExcludesFile(folder.fsPath, its));
    }
    return this.excludesFile.result(signal);
  }
}

async function renewed(request: EstimateRequest, signal: AbortSignal): Promise<Renewed> {
  return request.renew === undefined ? request : request.renew(signal);
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
  const { splitCommandLine } = await import("./core/scripts/splitCommandLine");
  const shell = process.platform === "win32" ? "powershell" : "posix";
  const { options, problems } = parseArguments(splitCommandLine(serverArguments, shell), process.env);
  for (const { message } of problems) log.warn(`llamaGauge.serverArguments: ${formatText(message)}`);
  const { systemOptions } = await import("./node/machine/systemOptions");
  return { ...(await systemOptions()), ...options };
}
