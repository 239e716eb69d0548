import { printError } from "./cli/output";
import { run } from "./cli/run/program";

// Composition root of the command line `llama-gauge`: same core, same adapters as the extension, no vscode.
const interrupt = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupt.abort());
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // the reader of a pipe went away, as `head` does; anything else is a disk that is full
  if (error.code !== "EPIPE") printError(`the output cannot be written (${error.code ?? error.message}).`);
  process.exit(3);
});
// nobody is left to tell
process.stderr.on("error", () => undefined);

run(process.argv.slice(2), interrupt.signal).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    // what its own way to tell errors could not tell
    process.exitCode = 3;
    console.error(error);
  },
);
