import type { MessagePort } from "node:worker_threads";
import { fingerprintOf, vocabularyIn } from "../../core/tokens/kernel/bundle";
import { tokenizerOf, type Kernel } from "../../core/tokens/kernel/kernel";
import { promptEnds } from "../../core/tokens/kernel/promptEnds";
import { settingsOf } from "../../core/tokens/kernel/vocabularyDefaults";
import { notebookText } from "../../core/files/notebookText";
import { UserError } from "../../core/userError";
import { countFile } from "./fileCount";
import type { TokenAnswer, TokenReply, TokenRequest, TokenTask } from "./tokenWorkerMessages";
import { loadVocabulary } from "./vocabularyCache";

/** Answers token requests on a port, one after the other. */
export function serveTokens(port: MessagePort): void {
  const kernels = new Kernels();
  port.on("message", (request: TokenRequest) => {
    const reply = replyTo(request, kernels);
    port.postMessage(reply);
  });
}

class Cancelled extends Error {}

/** Vocabularies in use; the one used last is kept, another only while it is needed. */
class Kernels {
  private current: { readonly block: SharedArrayBuffer; readonly kernel: Kernel } | undefined;

  of(block: SharedArrayBuffer | undefined): Kernel {
    if (!block) throw new Error("no vocabulary was given");
    if (this.current?.block !== block) {
      this.current = { block, kernel: tokenizerOf(vocabularyIn(block)) };
    }
    return this.current.kernel;
  }
}

function replyTo(request: TokenRequest, kernels: Kernels): TokenReply {
  const { id } = request;
  const flag = new Int32Array(request.cancelled);
  const checkpoint = () => {
    if (Atomics.load(flag, 0) !== 0) throw new Cancelled();
  };
  try {
    checkpoint();
    return { id, answer: answer(request.task, request.block, kernels, checkpoint) };
  } catch (error) {
    if (error instanceof Cancelled) return { id, cancelled: true };
    if (error instanceof UserError) {
      const { reason, problem, remedy } = error;
      return { id, userError: { reason, problem, remedy } };
    }
    return { id, failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

function answer(
  task: TokenTask,
  block: SharedArrayBuffer | undefined,
  kernels: Kernels,
  checkpoint: () => void,
): TokenAnswer {
  switch (task.kind) {
    case "open": {
      const opened = loadVocabulary(task.file, task.cacheDir);
      const { block: shared, vocabulary } = opened;
      const splitsByRegex = settingsOf(vocabulary.keys).pre?.recursive ?? false;
      const fingerprint = fingerprintOf(shared);
      const ends = promptEnds(vocabulary);
      return { kind: "opened", block: shared, keys: vocabulary.keys, fingerprint, splitsByRegex, ends };
    }
    case "count": {
      const kernel = kernels.of(block);
      const tokens = task.texts.map((text) => kernel.count(text, { ...task.flags, checkpoint }));
      return { kind: "counted", tokens };
    }
    case "countFiles": {
      const kernel = kernels.of(block);
      const { flags, mostBytes } = task;
      const files = task.files.map((file) => {
        checkpoint();
        return countFile(file, kernel, { ...flags, mostBytes, checkpoint });
      });
      return { kind: "countedFiles", files };
    }
    case "notebook": {
      const text = notebookText(task.json);
      return { kind: "notebook", ...(text !== undefined && { text }) };
    }
    case "countBytes": {
      // a copy of its own: what decodes text takes no shared memory
      const text = new Uint8Array(task.bytes).slice();
      const tokens = [kernels.of(block).count(text, { ...task.flags, checkpoint })];
      return { kind: "counted", tokens };
    }
    case "encode":
      return { kind: "encoded", ids: kernels.of(block).encode(task.text, { ...task.flags, checkpoint }) };
  }
}
