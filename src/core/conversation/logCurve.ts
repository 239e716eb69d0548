import { speedFlags } from "../llamaBench/benchArguments";
import { parseArguments } from "../launch/commandLine";
import type { LogFacts } from "../logs/reading/logFacts";
import { findServerCommand } from "../scripts/serverCommand";
import { splitCommandLine } from "../scripts/splitCommandLine";
import type { CurveKey, CurvePoint, DepthCurve, GenerationPoint } from "../prefill/depthCurve";
import type { Ledger } from "./ledger";
import type { RequestRecord } from "./requestRecord";

/** Shorter prompts and answers say something about the cost of a request, not about that of a token. */
const leastTokens = 512;
const leastGenerated = 16;
/** Of so many tokens of depth as many points are kept, the newest: a server that runs for weeks writes hundred thousands. */
const bucketTokens = 1024;
const keptInBucket = 8;

interface Measured {
  readonly key: CurveKey;
  readonly points: Map<number, CurvePoint[]>;
  readonly generation: Map<number, GenerationPoint[]>;
}

/**
 * Depth curves of a log: one for each setup its servers were started with. Requests that shared the server with others are
 * left out: two prompts at once are read in turns, at half the speed.
 */
export function logCurves(ledger: Ledger): DepthCurve[] {
  const setups = new Map<string, Measured>();
  for (const request of ledger.requests) {
    const server = ledger.servers.find(
      ({ source, start }) => source === request.source && start === request.start,
    );
    const key = logCurveKey(server?.facts);
    const id = JSON.stringify(key);
    const setup = setups.get(id) ?? { key, points: new Map(), generation: new Map() };
    setups.set(id, setup);
    for (const point of pointsOf(request)) keep(setup.points, point.depth + point.tokens / 2, point);
    for (const point of generationOf(request)) keep(setup.generation, point.depth, point);
  }
  return [...setups.values()].flatMap(({ key, points, generation }) =>
    points.size === 0
      ? []
      : [
          {
            key,
            points: [...points.values()].flat().toSorted((p, q) => p.depth - q.depth || p.tokens - q.tokens),
            generation: [...generation.values()].flat().toSorted((p, q) => p.depth - q.depth),
          },
        ],
  );
}

function keep<T>(buckets: Map<number, T[]>, depth: number, point: T): void {
  const bucket = Math.floor(depth / bucketTokens);
  const kept = buckets.get(bucket);
  if (kept === undefined) buckets.set(bucket, [point]);
  else {
    kept.push(point);
    if (kept.length > keptInBucket) kept.shift();
  }
}

function pointsOf({
  spans,
  cachedTokens,
  readTokens,
  prefillSeconds,
  disturbed,
}: RequestRecord): readonly CurvePoint[] {
  if (disturbed?.prefill === true) return [];
  if (spans !== undefined) return spans;
  if (cachedTokens === undefined || readTokens === undefined || prefillSeconds === undefined) return [];
  return readTokens >= leastTokens && prefillSeconds > 0
    ? [{ depth: cachedTokens, tokens: readTokens, seconds: prefillSeconds }]
    : [];
}

function generationOf(request: RequestRecord): readonly GenerationPoint[] {
  const { promptTokens, generatedTokens = 0, generationSeconds = 0, disturbed } = request;
  if (disturbed?.generation === true || promptTokens === undefined) return [];
  return generatedTokens >= leastGenerated && generationSeconds > 0
    ? [
        {
          depth: Math.round(promptTokens + generatedTokens / 2),
          tokensPerSecond: generatedTokens / generationSeconds,
        },
      ]
    : [];
}

/**
 * What a log says its server was: model, build and options, empty where it does not. At the default verbosity build and
 * options are not printed; a command line in front of the log, as terminals and scripts write it, tells the options.
 */
export function logCurveKey(facts: LogFacts | undefined): CurveKey {
  const { commandLine, model, build } = facts ?? {};
  return {
    model: model?.path ?? "",
    build: build ?? "",
    flags: commandLine === undefined ? "" : speedFlags(parseArguments(serverArguments(commandLine)).options),
  };
}

function serverArguments(commandLine: string): readonly string[] {
  return findServerCommand(splitCommandLine(commandLine, "posix"))?.arguments ?? [];
}
