import { existsSync } from "node:fs";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { TimeLimitError, within } from "../waiting/within";
import type { TemplateJob, TemplateReply } from "./templateJob";

/** Real templates take a few milliseconds. */
const limitMs = 10_000;
const heapMegabytes = 192;
/** Prompts that are remembered; a session has one model or two. */
const mostKept = 16;

/** Renders chat templates, which are programs of strangers, on a thread with limits; remembers what they gave this day. */
export class TemplateRenderer {
  readonly #kept = new Map<string, Promise<string>>();

  /** @param file the bundled program of the thread; the one beside this program where it is not named */
  constructor(private readonly file: string | undefined = beside("templateWorker.js")) {}

  /** @throws UserError where the template does not render here, or not within the limits */
  render(job: TemplateJob, signal: AbortSignal): Promise<string> {
    const key = JSON.stringify([new Date().toDateString(), job]);
    const known = this.#kept.get(key);
    if (known !== undefined) return within(known, 2 * limitMs, signal);
    const rendering = this.#start(job);
    this.#kept.set(key, rendering);
    for (const oldest of Array.from(this.#kept.keys()).slice(0, -mostKept)) this.#kept.delete(oldest);
    return within(rendering, 2 * limitMs, signal);
  }

  async #start(job: TemplateJob): Promise<string> {
    // everything else of an estimate is still worth having
    if (this.file === undefined) throw unrendered("templateWorker.js is not beside this program");
    const thread = new Worker(this.file, {
      workerData: job,
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: 8, stackSizeMb: 4 },
      // what the template prints is nobody's
      stdout: true,
      stderr: true,
    });
    thread.unref();
    const reply = new Promise<TemplateReply>((resolve, reject) => {
      thread.once("message", resolve);
      thread.once("error", reject);
      thread.once("exit", (code) => reject(new Error(`the thread ended with code ${code}`)));
    });
    try {
      const answer = await within(reply, limitMs, new AbortController().signal);
      if (answer.kind === "failed") throw unrendered(answer.problem);
      return answer.prompt;
    } catch (error) {
      if (error instanceof UserError) throw error;
      if (error instanceof TimeLimitError) throw unrendered(`no result within ${limitMs / 1000} s`);
      throw unrendered(error instanceof Error ? error.message : String(error));
    } finally {
      await thread.terminate();
    }
  }
}

function unrendered(problem: string): UserError {
  return new UserError(
    "unsupported",
    say`The model's chat template cannot be rendered here: ${problem.slice(0, 300)}.`,
    say`Start llama-server, which renders it itself.`,
  );
}

function beside(name: string): string | undefined {
  const file = path.join(__dirname, name);
  return existsSync(file) ? file : undefined;
}
