import {
  ProcessExecution,
  Task,
  TaskPanelKind,
  TaskRevealKind,
  tasks,
  TaskScope,
  Uri,
  workspace,
  type TaskExecution,
} from "vscode";
import type { ServerStart } from "../../app/startServer";
import type { Readiness, StartPlan } from "../../core/servers/startPlan";
import { withAny } from "../../core/signals";
import { count, say } from "../../core/text";
import { UserError } from "../../core/userError";
import { DisposableStore, Emitter, type Disposable } from "../editor/lifecycle";
import { shownName } from "../../core/shown";
import { askToGoOn, notify, showingProgress } from "../editor/screen";
import { localized } from "../editor/vscodeText";
import { inBackground } from "../editor/background";

/** A server to start. */
export interface StartRequest {
  /** For people; at most one of a name runs. */
  readonly name: string;
  /** Arguments as they were written, secrets included. */
  readonly arguments: readonly string[];
  /** Where relative paths begin. */
  readonly folder?: string;
  /** The section of a models preset it comes from. */
  readonly preset?: { readonly uri: string; readonly section: string };
}

interface Started {
  readonly name: string;
  readonly request: StartRequest;
  readonly plan: StartPlan;
  readonly execution: TaskExecution;
  /** Its process, once it has begun. */
  readonly known: { pid?: number };
  /** Aborted when its process has ended; the reason has the exit code. */
  readonly ended: AbortSignal;
}

class ProcessEnded extends Error {
  constructor(readonly exitCode: number | undefined) {
    super("The process ended.");
  }
}

/** Starts llama-servers as tasks, each in a terminal of its own, and ends them with the window. */
export class ServerStarter implements Disposable {
  private readonly store = new DisposableStore();
  private readonly changes = this.store.add(new Emitter<void>());
  private readonly running: Started[] = [];
  private readonly up = new Set<Started>();

  /** Fires when one has come up, and when one that was up has ended. */
  readonly onDidChange = this.changes.event;

  constructor(
    private readonly starts: Pick<ServerStart, "prepare" | "untilReady" | "failure" | "untilGone">,
  ) {}

  /** Address of the one that came up last and still runs. */
  get attached(): { readonly url: string; readonly apiKey?: string; readonly logFile: string } | undefined {
    const last = Array.from(this.up).at(-1);
    return last && { ...last.plan, logFile: absolute(last.plan.logFile, last.request.folder) };
  }

  /** The one of that name that is up. */
  serverOf(name: string): { readonly url: string; readonly apiKey?: string } | undefined {
    const found = Array.from(this.up).find((each) => each.name === name)?.plan;
    if (found === undefined) return undefined;
    const { url, apiKey } = found;
    return { url, ...(apiKey !== undefined && { apiKey }) };
  }

  /** Resolves when it is gone. */
  async stop(name: string): Promise<void> {
    const found = this.running.find((each) => each.name === name);
    if (found !== undefined) await this.end(found);
  }

  /** How the server at an address was started; undefined: not by us. */
  startedAt(url: string): StartRequest | undefined {
    return Array.from(this.up).find(({ plan }) => plan.url === url)?.request;
  }

  /** Resolves to its address when it answers; undefined where the user thought better of it. */
  async start(request: StartRequest): Promise<string | undefined> {
    if (!workspace.isTrusted) {
      throw new UserError(
        "untrusted",
        say`Programs are started only in a trusted workspace.`,
        say`Trust it first.`,
      );
    }
    if (!(await this.replaces(request.name))) return undefined;
    return showingProgress(localized(say`Starting ${request.name}`), (_, cancelled) =>
      this.startAndWatch(request, cancelled),
    );
  }

  dispose(): void {
    for (const { execution } of this.running) execution.terminate();
    this.store.dispose();
  }

  private async startAndWatch(request: StartRequest, cancelled: AbortSignal): Promise<string | undefined> {
    const { program, plan } = await this.starts.prepare(request.arguments, cancelled);
    cancelled.throwIfAborted();
    const started = await this.execute(request, program, plan);
    try {
      const readiness = await withAny([cancelled, started.ended], (stop) =>
        this.starts.untilReady(plan, stop),
      );
      started.ended.throwIfAborted();
      this.up.add(started);
      this.changes.fire();
      inBackground(notify("information", localized(readyText(request.name, plan.url, readiness))));
      return plan.url;
    } catch (error) {
      if (cancelled.aborted) {
        started.execution.terminate();
        return undefined;
      }
      if (started.ended.reason instanceof ProcessEnded) {
        throw await this.starts.failure(request.name, plan, started.ended.reason.exitCode);
      }
      throw error;
    }
  }

  private async execute(request: StartRequest, program: string, plan: StartPlan): Promise<Started> {
    const { name, folder } = request;
    const execution = new ProcessExecution(program, [...plan.arguments], {
      env: { ...plan.secrets },
      ...(folder !== undefined && { cwd: folder }),
    });
    // also the name of its terminal
    const shown = shownName(name);
    const task = new Task({ type: "llamaGauge" }, TaskScope.Workspace, shown, "Llama Gauge", execution);
    task.presentationOptions = {
      reveal: TaskRevealKind.Always,
      panel: TaskPanelKind.Dedicated,
      focus: false,
    };
    const ended = new AbortController();
    const own = new DisposableStore();
    const end = (exitCode: number | undefined): void => {
      own.dispose();
      ended.abort(new ProcessEnded(exitCode));
      const index = this.running.findIndex((each) => each.ended === ended.signal);
      const [gone] = index < 0 ? [] : this.running.splice(index, 1);
      if (gone !== undefined && this.up.delete(gone)) this.changes.fire();
    };
    // before the start: a program that fails at once is gone sooner than the start is reported
    const isOurs = (its: TaskExecution): boolean => its.task === task || its.task.name === shown;
    const known: Started["known"] = {};
    own.add(
      tasks.onDidStartTaskProcess(({ execution: its, processId }) => {
        if (isOurs(its)) known.pid = processId;
      }),
    );
    own.add(
      tasks.onDidEndTaskProcess(({ execution: its, exitCode }) => {
        if (isOurs(its)) end(exitCode);
      }),
    );
    // where the process never began, there is no end of it either
    own.add(
      tasks.onDidEndTask(({ execution: its }) => {
        if (isOurs(its)) end(undefined);
      }),
    );
    const started: Started = {
      name,
      request,
      plan,
      known,
      execution: await tasks.executeTask(task),
      ended: ended.signal,
    };
    if (!ended.signal.aborted) this.running.push(started);
    return started;
  }

  /** Asks before one that runs is ended; false: it stays. */
  private async replaces(name: string): Promise<boolean> {
    const former = this.running.find((each) => each.name === name);
    if (former === undefined) return true;
    const restart = localized(say`Start it again`);
    if (!(await askToGoOn("warning", localized(say`${name} is already running.`), restart))) return false;
    await this.end(former);
    return true;
  }

  private async end({ ended, execution, known: { pid } }: Started): Promise<void> {
    await new Promise<void>((resolve) => {
      if (ended.aborted) resolve();
      ended.addEventListener("abort", () => resolve());
      execution.terminate();
    });
    // a task has ended for VS Code when its terminal is closed: the process may take longer
    if (pid !== undefined) await this.starts.untilGone(pid);
  }
}

function readyText(name: string, url: string, readiness: Readiness): ReturnType<typeof say> {
  if (readiness.kind === "answers") return say`${name} responds at ${url}. ${readiness.error.problem}`;
  const { model, nCtxPerSlot } = readiness.facts;
  return say`${name} is running at ${url}: ${model.id}, ${count(nCtxPerSlot)} token[s] per request.`;
}

/** A server writes a log of a relative name in the folder it was started in. */
function absolute(file: string, folder: string | undefined): string {
  return folder === undefined || /^(?:[\\/]|[A-Za-z]:)/.test(file)
    ? file
    : Uri.joinPath(Uri.file(folder), file).fsPath;
}

/** The folder relative paths of the settings begin in. */
export function workspaceFolder(): string | undefined {
  const [folder] = workspace.workspaceFolders ?? [];
  return folder?.uri.scheme === "file" ? folder.uri.fsPath : undefined;
}

/** The folder a file lies in; undefined where it is not on disk. */
export function folderOf(uri: Uri): string | undefined {
  return uri.scheme === "file" ? Uri.joinPath(uri, "..").fsPath : undefined;
}
