import { notebookText } from "../../core/files/notebookText";
import { TokenWorkers } from "../tokenizer/tokenWorkers";
import { workerProgram } from "../tokenizer/workerProgram";

/** Parsing this many characters holds a thread for a few milliseconds. */
const parsedHere = 1 << 20;

/** Cells of notebooks; those of large ones are taken out on a thread of its own, which ends by itself. */
export class NotebookTexts {
  private workers: TokenWorkers | undefined;

  constructor(private readonly workerFile: string | undefined) {}

  /** As `notebookText`. */
  async of(json: string, signal: AbortSignal): Promise<string | undefined> {
    const workerFile = json.length < parsedHere ? undefined : (this.workerFile ?? workerProgram());
    if (workerFile === undefined) return notebookText(json);
    this.workers ??= new TokenWorkers({ workerFile, size: 1 });
    const answer = await this.workers.run({ kind: "notebook", json }, undefined, signal);
    if (answer.kind !== "notebook") throw new Error(`a worker answered ${answer.kind} to a notebook`);
    return answer.text;
  }
}
