import { mkdir, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import path from "node:path";
import type { Readiness } from "../../core/servers/startPlan";
import { UserError } from "../../core/userError";
import { HttpLlamaServer } from "./llamaServer";
import { textOfRegular } from "../reading/regularFile";
import { errorCode } from "../waiting/within";

/** Between two questions to a server that is still loading. */
const pauseMs = 300;
const connectMs = 1000;
/** What a process may take to end that was told to: a large model is given back page by page. */
const goneMs = 15_000;
const gonePauseMs = 50;
/** What is read of a log's end: more than llama-server writes while it starts. */
const tailBytes = 512 * 1024;

/** The first of these ports of 127.0.0.1 on which nothing listens, else any that is free. */
export async function freeLoopbackPort(preferred: readonly number[]): Promise<number> {
  for (const port of [...preferred, 0]) {
    const listening = await listenOnce(port);
    if (listening !== undefined) return listening;
  }
  throw new Error("no port of 127.0.0.1 is free");
}

function listenOnce(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => {
      resolve(undefined);
    });
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => {
      const address = server.address();
      server.close(() => {
        resolve(typeof address === "object" ? address?.port : undefined);
      });
    });
  });
}

/** Whether anything listens at an http address. */
export function isTaken(url: string, signal: AbortSignal): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, "");
    const socket = connect({ host, port: Number(port), signal, timeout: connectMs });
    const done = (taken: boolean) => (): void => {
      socket.destroy();
      resolve(taken);
    };
    socket.once("connect", done(true)).once("error", done(false)).once("timeout", done(false));
  });
}

/**
 * Asks a starting server until it answers. Loading takes as long as it takes: the signal ends the waiting, by the user or
 * because the process is gone.
 */
export async function waitUntilReady(
  url: string,
  apiKey: string | undefined,
  signal: AbortSignal,
): Promise<Readiness> {
  const server = new HttpLlamaServer({ url, ...(apiKey !== undefined && { apiKey }), askSeconds: 5 });
  for (;;) {
    signal.throwIfAborted();
    try {
      return { kind: "ready", facts: await server.facts(signal) };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof UserError)) throw error;
      // the second: a router that has no model loaded, or several
      if (error.reason === "unauthorized" || error.reason === "invalidInput")
        return { kind: "answers", error };
    }
    await pause(signal);
  }
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(finish, pauseMs);
    function finish(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      if (signal.aborted) reject(signal.reason as Error);
      else resolve();
    }
    signal.addEventListener("abort", finish);
  });
}

/** Resolves when there is no such process any more, or when it does not end in time. */
export async function untilGone(pid: number): Promise<void> {
  for (const end = Date.now() + goneMs; isRunning(pid) && Date.now() < end;) {
    await new Promise((resolve) => setTimeout(resolve, gonePauseMs));
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // somebody else's is there, too
    return errorCode(error) === "EPERM";
  }
}

/** Makes room for a log; an earlier one of that name goes. */
export async function newLogFile(file: string): Promise<string> {
  await mkdir(path.dirname(file), { recursive: true });
  await rm(file, { force: true });
  return file;
}

/** The end of a log file; empty where there is none. */
export async function logTail(file: string): Promise<string> {
  try {
    return await textOfRegular(file, { most: tailBytes, part: "end" });
  } catch {
    return "";
  }
}
