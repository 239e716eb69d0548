import type { BenchPlan, StreamPlan } from "../core/bench/probePlan";
import type { ProbeProgress, ProbeReport } from "../core/bench/probeReport";
import type { FileRef, FileSource, WalkOptions } from "../core/files/files";
import { formatText } from "../core/format";
import { countRequested, estimate, type PromptSpec } from "../core/report/estimate";
import type { EstimateProgress } from "../core/report/gaugeState";
import { serverHasChanged } from "../core/report/serverChange";
import type { Estimated, Situation } from "../core/report/situation";
import type { TokenCount } from "../core/tokens/tokenCount";
import { overlayFiles } from "../core/tokens/overlayFiles";
import { packText, type PackTemplate } from "../core/tokens/pack";
import { globalExcludesFile } from "../node/files/gitChanges";
import { workspaceFiles } from "../node/files/workspaceFiles";
import { SharedWork } from "../node/waiting/sharedWork";
import type { AppHost } from "./host";
import { benchProbe } from "./benchSetup";
import { Caches } from "./caches";
import { HistoryStore } from "./historyStore";
import { launchOptions, launchWith, typedArguments } from "./launchArguments";
import { probeAndRemember, probedServer, type ProbedServer } from "./probe";
import { serverSetup } from "./servers";
import type { Settings } from "./settings";
import { gather, type Counter } from "./situation";

/** What is about to be sent. */
export interface EstimateRequest {
  /** Name of the whole on screen. */
  readonly label: string;
  /** Absolute paths of files and folders. */
  readonly roots: readonly string[];
  /** Text that is not, or not yet, on disk; absent: the files under the roots. */
  readonly source?: FileSource;
  /** Finds out, at the start of each estimate, what belongs to it now; `roots` then only say what to watch. */
  readonly renew?: (signal: AbortSignal) => Promise<Renewed>;
  /** Paths of files that are counted but do not go into the prompt. */
  readonly leftOut?: readonly string[];
}

export interface Renewed {
  readonly roots: readonly string[];
  readonly source?: FileSource;
}

/** A report, its situation, and the settings it was asked in. */
export interface Estimate extends Estimated {
  readonly settings: Settings;
}

export interface ProbeCallbacks {
  readonly onPlan: (plan: StreamPlan | BenchPlan) => void;
  readonly onProgress: (progress: ProbeProgress) => void;
}

/** Says in the log where the time of an estimate went. */
class Steps {
  readonly #began = performance.now();
  #last = this.#began;
  readonly #parts: string[] = [];

  done(name: string): void {
    const now = performance.now();
    this.#parts.push(`${name} ${(now - this.#last).toFixed(0)}`);
    this.#last = now;
  }

  text(): string {
    return `${(this.#last - this.#began).toFixed(0)} ms (${this.#parts.join(", ")})`;
  }
}

/** Makes reports; holds nothing of them but what is expensive to open. */
export class Estimates {
  readonly #caches: Caches;
  readonly #history: HistoryStore;
  #excludesFile: SharedWork<string | undefined> | undefined;

  constructor(private readonly host: AppHost) {
    const { cacheFolder: folder, version, log } = host;
    const onCrash = (cause: Error): void =>
      log.error("A counting thread died; its work is done again", cause);
    this.#caches = new Caches({ folder, version, onCrash });
    this.#history = new HistoryStore(folder);
  }

  /**
   * Fails with a `UserError`, or with an abort where the signal fired. @param former an estimate since which only files
   * have changed: what it knows of server and machine still holds, unless the settings are others
   */
  async estimate(
    request: EstimateRequest,
    onProgress: (progress: EstimateProgress) => void,
    signal: AbortSignal,
    former?: Estimate,
  ): Promise<Estimate> {
    const settings = this.host.settings();
    const steps = new Steps();
    const sending = this.#sent(request, signal);
    sending.catch(() => undefined);
    const spec = async (): Promise<PromptSpec> => ({
      scope: { label: request.label, roots: (await sending).roots },
      walk: this.#walkOptions(settings),
      pack: packTemplate(settings),
      answerReserve: settings.answerReserveTokens,
      patienceSeconds: settings.patienceSeconds,
      ...(request.leftOut !== undefined && { leftOut: request.leftOut }),
    });
    let counting: Promise<TokenCount> | undefined;
    const count = async (counter: Counter): Promise<TokenCount> =>
      countRequested(
        await spec(),
        counter,
        { files: (await sending).files, clock: Date },
        onProgress,
        signal,
      );
    const holds = former?.settings === settings && !(await serverHasChanged(former.situation, signal));
    const situation = holds
      ? former.situation
      : await this.#gather(settings, signal, (counter) => {
          steps.done("server and vocabulary");
          counting = count(counter);
          counting.catch(() => undefined);
        });
    const { files } = await sending;
    steps.done("model and machine");
    const report = await estimate(
      await spec(),
      situation,
      { files, clock: Date, ...(counting && { counting }) },
      (progress) => {
        if (progress.stage === "judging") steps.done("files");
        onProgress(progress);
      },
      signal,
    );
    steps.done("prompt and verdict");
    this.host.log.info(`Estimated ${String(report.tokens.files.length)} files in ${steps.text()}`);
    return { report, situation, settings };
  }

  /** The text that an estimate is about, as it would be sent. */
  async packPrompt(request: EstimateRequest, signal: AbortSignal): Promise<string> {
    const settings = this.host.settings();
    const { roots, files } = await this.#sent(request, signal);
    const leftOut = new Set(request.leftOut);
    const listed: FileRef[] = [];
    for await (const item of files.list(roots, this.#walkOptions(settings), signal)) {
      if (item.kind === "file" && !leftOut.has(item.file.path)) listed.push(item.file);
    }
    const pieces: string[] = [];
    for await (const piece of packText(listed, packTemplate(settings), files, signal)) {
      signal.throwIfAborted();
      pieces.push(piece);
    }
    return pieces.join("");
  }

  /** Everything that is known of the setup an estimate would go to now. */
  situation(signal: AbortSignal): Promise<Situation> {
    return this.#gather(this.host.settings(), signal);
  }

  /** Measures the server an estimate goes to, else the chosen model with llama-bench; the next estimate uses it. */
  async probe(callbacks: ProbeCallbacks, signal: AbortSignal): Promise<ProbeReport> {
    const situation = await this.situation(signal);
    const { server, launch } = situation;
    if (!server.known) return benchProbe(situation, this.host, callbacks, this.#history, signal);
    const { facts } = server.value;
    return this.#probe(probedServer(facts, launch, await this.host.apiKey(facts.url)), callbacks, signal);
  }

  /** The same for a server whose options are known. */
  async probeServer(
    { launch, ...server }: ProbedServer,
    callbacks: ProbeCallbacks,
    signal: AbortSignal,
  ): Promise<ProbeReport> {
    return this.#probe({ ...server, launch: await launchWith(launch) }, callbacks, signal);
  }

  async close(): Promise<void> {
    await this.#caches.close();
  }

  #probe(server: ProbedServer, callbacks: ProbeCallbacks, signal: AbortSignal): Promise<ProbeReport> {
    const budgetSeconds = this.host.settings().probeSeconds;
    return probeAndRemember({ ...server, budgetSeconds, ...callbacks }, this.#history, signal);
  }

  async #gather(
    settings: Settings,
    signal: AbortSignal,
    onCounter?: (counter: Counter) => void,
  ): Promise<Situation> {
    const { host } = this;
    const attached = host.attachedServer();
    return gather(
      {
        ...(await serverSetup(host)),
        launch: await launchOptions(typedArguments(settings.serverArguments), ({ message }) =>
          host.log.warn(`llamaGauge.serverArguments: ${formatText(message)}`),
        ),
        devices: "measure",
        programs: host.trusted() ? programsOf(settings) : "none",
        fitProbe: this.#caches.fitProbe,
        probePatience: 3000,
        ...(attached !== undefined && { serverLog: attached.logFile }),
        ...(settings.marginBytes !== undefined && { marginBytes: settings.marginBytes }),
        ...(settings.model !== "" && { modelFile: settings.model }),
        openVocabulary: (file, its) => this.#caches.vocabulary(file, its),
        readHeader: (file, its) => this.#caches.headers.read(file, its),
        renderTemplate: (job, its) => this.#caches.templates.render(job, its),
        counts: (fingerprint) => this.#caches.counts(fingerprint),
        history: this.#history,
      },
      signal,
      onCounter,
    );
  }

  /** What belongs to the request now: files on disk as the editor reads them, and what is not saved as it stands there. */
  async #sent(
    request: EstimateRequest,
    signal: AbortSignal,
  ): Promise<{ readonly roots: readonly string[]; readonly files: FileSource }> {
    const { roots, source } = request.renew === undefined ? request : await request.renew(signal);
    return { roots, files: source ?? (await this.#files(signal)) };
  }

  async #files(signal: AbortSignal): Promise<FileSource> {
    const excludesFile = await this.#globalExcludesFile(signal);
    const onDisk = workspaceFiles({
      decodeForeign: (bytes, file) => this.host.decode(bytes, file),
      ...(excludesFile !== undefined && { globalExcludesFile: excludesFile }),
    });
    return overlayFiles(onDisk, this.host.unsavedTexts());
  }

  /** The user's own ignore file; git is asked once, and not in folders nobody trusts. */
  async #globalExcludesFile(signal: AbortSignal): Promise<string | undefined> {
    const [folder] = this.host.workspaceFolders();
    if (!this.host.trusted() || folder === undefined) return undefined;
    if (this.#excludesFile?.abandoned !== false) {
      this.#excludesFile = new SharedWork((its) => globalExcludesFile(folder, its));
    }
    return this.#excludesFile.result(signal);
  }

  #walkOptions(settings: Settings): WalkOptions {
    return {
      exclude: [...settings.filesExclude, ...settings.exclude],
      useIgnoreFiles: settings.useIgnoreFiles,
      followLinks: settings.followLinks,
      maxFileBytes: settings.maxFileBytes,
      maxFiles: settings.maxFiles,
      workspaceFolders: this.host.workspaceFolders(),
    };
  }
}

function programsOf({ llamaCppFolder }: Settings): { readonly folder?: string } {
  return llamaCppFolder === "" ? {} : { folder: llamaCppFolder };
}

function packTemplate({ packTemplate: format, packOrder: order }: Settings): PackTemplate {
  return { format, order };
}
