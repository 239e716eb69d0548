import { parentPort } from "node:worker_threads";
import { serveTokens } from "./tokenWorker";

// Entry of the worker threads: bundled on its own.
if (parentPort) serveTokens(parentPort);
