import { parentPort, workerData } from "node:worker_threads";
import { chatPrompt } from "./chatPrompt";
import type { TemplateJob, TemplateReply } from "./templateJob";

// Entry of the thread that renders one chat template and ends: bundled on its own.
parentPort?.postMessage(reply(workerData as TemplateJob));

function reply(job: TemplateJob): TemplateReply {
  try {
    return { kind: "rendered", prompt: chatPrompt(job) };
  } catch (error) {
    return { kind: "failed", problem: error instanceof Error ? error.message : String(error) };
  }
}
