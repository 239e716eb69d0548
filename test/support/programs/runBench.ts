/** Runs the llama-bench that is named with a model, and says its process id. */
import { runLlamaBench } from "../../../src/node/llamaBench/llamaBench";

const [, , program = "", model = ""] = process.argv;
await runLlamaBench(
  {
    program,
    arguments: ["-m", model, "-t", "1"],
    depths: [8192],
    promptTokens: [128],
    generatedTokens: 4,
    repetitions: 1,
    timeoutSeconds: 60,
    onStart: (pid) => {
      console.log(pid);
    },
  },
  new AbortController().signal,
);
