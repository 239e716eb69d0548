// One job on one tree, alone in its process. Prints one JSON line.
import path from "node:path";

const [job, folder, model, workerFile, cacheFolder] = process.argv.slice(2);
const { workspaceJob } = await import(path.resolve("out/bench/support.mjs"));
console.log(JSON.stringify(await workspaceJob(job, folder, { model, workerFile, cacheFolder })));
process.exit(0);
