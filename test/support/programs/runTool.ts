import { runTool } from "../../../src/node/process/runTool";

// Runs a shell script until somebody ends this process.
const [script = "", file = ""] = process.argv.slice(2);
await runTool("sh", [script, file], { milliseconds: 600_000 }, new AbortController().signal);
