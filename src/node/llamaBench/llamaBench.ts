import type { BenchRow, RejectedRow } from "../../core/llamaBench/benchRow";
import { benchStep, FillTimes } from "../../core/llamaBench/benchProgress";
import type { BenchStep } from "../../core/llamaBench/benchProgress";
import { parseLlamaBench } from "../../core/llamaBench/parseLlamaBench";
import type { CurvePoint } from "../../core/prefill/depthCurve";
import { say, seconds } from "../../core/text";
import { UserError } from "../../core/userError";
import { startGuarded } from "../process/guardedProcess";
import type { ProcessEnd } from "../process/guardedProcess";

export interface BenchCall {
  readonly program: string;
  /** Model and settings, as `benchArguments` makes them. */
  readonly arguments: readonly string[];
  readonly depths: readonly number[];
  readonly promptTokens: readonly number[];
  readonly generatedTokens: number;
  /** A last test at every depth: a prompt and an answer, timed together. */
  readonly together?: { readonly promptTokens: number; readonly generatedTokens: number };
  readonly repetitions: number;
  readonly timeoutSeconds: number;
  /** Asked after every finished test: whether what is left may be left out. */
  readonly enough?: (rows: readonly BenchRow[]) => boolean;
  readonly onStart?: (pid: number) => void;
  readonly onStep?: (step: BenchStep) => void;
  /** Called after every finished test with all rows until then. */
  readonly onRows?: (rows: readonly BenchRow[]) => void;
}

export interface BenchRun {
  readonly rows: readonly BenchRow[];
  readonly rejected: readonly RejectedRow[];
  readonly warnings: readonly string[];
  /** Whole cold prefills up to each depth, from the times between the lines of progress. */
  readonly fills: readonly CurvePoint[];
  readonly argv: readonly string[];
  /** Seconds from the start of the program to its first test. */
  readonly loadSeconds?: number;
  readonly seconds: number;
  /** Set when the run did not finish; the rows until then are there. */
  readonly failure?: UserError;
  readonly cancelled: boolean;
}

const maxLines = 20_000;

/**
 * Runs llama-bench once, one JSON line per finished test. Whatever stops it early (an error, the time limit, the caller)
 * the rows measured until then come back; nothing it started is left.
 */
export async function runLlamaBench(call: BenchCall, signal: AbortSignal): Promise<BenchRun> {
  signal.throwIfAborted();
  const { together } = call;
  const argv = [
    ...call.arguments,
    ...["-p", call.promptTokens.join(","), "-n", String(call.generatedTokens), "-d", call.depths.join(",")],
    ...(together === undefined ? [] : ["-pg", `${together.promptTokens},${together.generatedTokens}`]),
    ...["-r", String(call.repetitions), "-o", "jsonl", "--progress"],
  ];
  const testsPerDepth =
    call.promptTokens.length + (call.generatedTokens > 0 ? 1 : 0) + (together === undefined ? 0 : 1);
  const fills = new FillTimes(call.depths.flatMap((depth) => Array<number>(testsPerDepth).fill(depth)));
  const started = performance.now() / 1000;
  const output: string[] = [];
  const complaints: string[] = [];
  let loadSeconds: number | undefined;
  const measured = { enough: false };
  const child = startGuarded(call.program, argv, (from, line) => {
    const now = performance.now() / 1000;
    const step = benchStep(line);
    if (step !== undefined) {
      if (step.kind !== "starting") loadSeconds ??= now - started;
      fills.step(step, now);
      call.onStep?.(step);
    } else if (from === "stdout") {
      if (output.push(line) > maxLines) child.kill();
      if (!line.startsWith("{")) return;
      const { rows } = parseLlamaBench(output.join("\n"));
      call.onRows?.(rows);
      if (!measured.enough && call.enough?.(rows) === true) {
        measured.enough = true;
        child.kill();
      }
    } else if (complaints.push(line) > 200) complaints.shift();
  });
  if (child.pid > 0) call.onStart?.(child.pid);
  const expired = new AbortController();
  const timer = setTimeout(() => {
    expired.abort();
    child.kill();
  }, call.timeoutSeconds * 1000);
  const abort = (): void => {
    child.kill();
  };
  signal.addEventListener("abort", abort, { once: true });
  try {
    const end = await child.ended;
    const failure =
      signal.aborted || measured.enough
        ? undefined
        : expired.signal.aborted
          ? new UserError(
              "timeout",
              say`llama-bench did not finish within ${seconds(call.timeoutSeconds)}.`,
              say`Probe with more time or less depth; what was measured is kept.`,
            )
          : failureOf(call.program, end, complaints);
    return {
      ...parseLlamaBench(output.join("\n")),
      fills: fills.points,
      argv: [call.program, ...argv],
      ...(loadSeconds !== undefined && { loadSeconds }),
      seconds: performance.now() / 1000 - started,
      ...(failure !== undefined && { failure }),
      cancelled: signal.aborted,
    };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    child.kill();
  }
}

/** What the end of the program means for the user; undefined where all went well. */
function failureOf(program: string, end: ProcessEnd, complaints: readonly string[]): UserError | undefined {
  if (end.exitCode === 0) return undefined;
  if (end.startError !== undefined) {
    return new UserError(
      "notFound",
      say`llama-bench cannot be started at ${program} (${end.startError}).`,
      say`Specify the llama-bench of your llama.cpp.`,
    );
  }
  const device = complaints.join("\n").match(/invalid device: (\S+)/)?.[1];
  if (device !== undefined) {
    return new UserError(
      "invalidInput",
      say`This llama-bench has no device ${device}.`,
      say`Name devices as llama-bench --list-devices does, or use the llama.cpp the server comes from.`,
    );
  }
  const last = lastComplaint(complaints);
  if (/invalid parameter for argument: (-d|--progress|-fa|-o)\b/.test(last)) {
    return new UserError(
      "unsupported",
      say`This llama-bench is too old for a depth probe: ${last}`,
      say`Update llama.cpp, or probe a running server instead.`,
    );
  }
  if (
    /failed to load model|failed to create context|failed to allocate|out of memory|unable to allocate/i.test(
      last,
    )
  ) {
    return new UserError(
      "outsideFailed",
      say`llama-bench could not set up the model: ${last}`,
      say`It may not fit next to what is running. Probe the running server instead, or use a smaller depth.`,
    );
  }
  const how = end.signal ?? String(end.exitCode ?? "?");
  return new UserError(
    "outsideFailed",
    say`llama-bench ended early (${how}): ${last}`,
    say`What was measured so far is kept; see the message for the cause.`,
  );
}

function lastComplaint(lines: readonly string[]): string {
  const plain = lines
    .map((line) => line.replace(/^[\d.]+ [A-Z] /, "").trim())
    .filter((line) => line !== "" && !/failed to enumerate|^load_backend|^\s/.test(line));
  const named = plain.filter((line) =>
    /error|fail|invalid|abort|assert|unsupported|requires|unable/i.test(line),
  );
  return (named.at(-1) ?? plain.at(-1) ?? "no message").slice(0, 300);
}
