import { existsSync, writeFileSync } from "node:fs";
import { parentPort, type MessagePort } from "node:worker_threads";
import { serveTokens } from "../../src/node/tokenizer/tokenWorker";
import type { TokenRequest, TokenTask } from "../../src/node/tokenizer/tokenWorkerMessages";

// A worker that dies on texts that ask for it: "crash:PATH" once for each PATH, "crash always" every time; and once on
// files named "crash.txt".
function textsOf(task: TokenTask): readonly string[] {
  if (task.kind === "count") return task.texts;
  if (task.kind !== "countFiles") return [];
  return task.files.flatMap(({ file }) => (file.label === "crash.txt" ? [`crash:${file.path}.died`] : []));
}

function guard(port: MessagePort): void {
  port.on("message", ({ task }: TokenRequest) => {
    for (const text of textsOf(task)) {
      if (text === "crash always") process.exit(7);
      const marker = /^crash:(.+)$/.exec(text)?.[1];
      if (marker === undefined || existsSync(marker)) continue;
      writeFileSync(marker, "");
      process.exit(7);
    }
  });
}

if (parentPort) {
  guard(parentPort);
  serveTokens(parentPort);
}
