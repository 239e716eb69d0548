import { run } from "./cli/program";

// Composition root of the command line `llama-gauge`: same core, same adapters as the extension, no vscode.
const interrupt = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupt.abort());
process.stdout.on("error", () => process.exit(3)); // the reader of a pipe went away

void run(process.argv.slice(2), interrupt.signal).then((code) => {
  process.exitCode = code;
});
