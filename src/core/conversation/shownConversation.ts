import type { DepthCurve } from "../prefill/depthCurve";
import type { LivePrefill } from "../prefill/livePrefill";
import type { Text } from "../text";
import { forecastOf, type Forecast } from "./forecast";
import type { Ledger } from "./ledger";
import { liveRequest } from "./liveRequest";
import type { RequestRecord, Reread, RereadKind, RunningRequest } from "./requestRecord";
import { serverKey, type ConversationSource, type LedgerUpdate } from "./source";

/** What surfaces show of a server's requests. */
export interface ShownConversation {
  /** Absent: there is nothing to read. */
  readonly source?: ConversationSource;
  readonly problem?: { readonly problem: Text; readonly remedy: Text };
  /** Programs whose lines share the log, the one that worked last first; usually one. */
  readonly programs: readonly ShownProgram[];
  readonly unknown: Ledger["unknown"];
}

export interface ShownProgram {
  /** Container, unit or router child; absent where the log has one program. */
  readonly name?: string;
  /** File name of its model, where the log tells it. */
  readonly model?: string;
  /** The last ones, oldest first. */
  readonly requests: readonly ShownRequest[];
  readonly running: readonly ShownRunning[];
  readonly limit?: number;
  readonly forecast?: Forecast;
  /** Several servers write into the log at once, and nothing tells their lines apart. */
  readonly mixed?: true;
  /** What was read again, by cause, of all requests that are kept; the dearest first. */
  readonly causes: readonly CauseCost[];
}

export interface ShownRequest extends Omit<RequestRecord, "spans"> {
  /** Milliseconds since the epoch. */
  readonly endedAtMs?: number;
}

export interface ShownRunning extends Omit<RunningRequest, "progress"> {
  /** While its prompt is read. */
  readonly live?: LivePrefill;
}

export interface CauseCost {
  readonly kind: RereadKind;
  readonly times: number;
  readonly tokens: number;
  /** Absent where one of them was not timed. */
  readonly seconds?: number;
  /** The last one. */
  readonly last: Reread;
}

export const noConversation: ShownConversation = { programs: [], unknown: { lines: 0 } };

/** More bars are thinner than their gaps. */
const mostShown = 100;
const mostPrograms = 8;

export interface ShowingAt {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Of the requests of one program. */
  readonly curveOf: (name: string | undefined) => DepthCurve | undefined;
}

export function shownConversation(update: LedgerUpdate, at: ShowingAt): ShownConversation {
  const { source, problem, ledger } = update;
  const base = { ...(source !== undefined && { source }), ...(problem !== undefined && { problem }) };
  if (ledger === undefined) return { ...noConversation, ...base };
  const names = [
    ...new Set([...ledger.running.toReversed(), ...ledger.requests.toReversed()].map((its) => its.source)),
  ];
  return {
    ...base,
    programs: names.slice(0, mostPrograms).map((name) => programOf(name, ledger, update, at)),
    unknown: ledger.unknown,
  };
}

/** The part of a ledger that is one program's. */
export function ledgerOfProgram(ledger: Ledger, name: string | undefined): Ledger {
  const isIts = ({ source }: { readonly source?: string }): boolean => source === name;
  return {
    ...ledger,
    requests: ledger.requests.filter(isIts),
    running: ledger.running.filter(isIts),
    servers: ledger.servers.filter(isIts),
  };
}

function programOf(
  name: string | undefined,
  all: Ledger,
  { startedAt }: LedgerUpdate,
  { now, curveOf }: ShowingAt,
): ShownProgram {
  const ledger = ledgerOfProgram(all, name);
  const server = ledger.servers.at(-1);
  const model = server?.facts.model?.path?.split(/[\\/]/).at(-1);
  const begun = server && startedAt?.get(serverKey(server));
  const seconds = begun === undefined ? undefined : (now - begun) / 1000;
  const curve = curveOf(name);
  const forecast = forecastOf(ledger, curve);
  const limit = server?.limit ?? ledger.requests.at(-1)?.limit;
  return {
    ...(name !== undefined && { name }),
    ...(model !== undefined && { model }),
    requests: ledger.requests.slice(-mostShown).map(({ spans: _, ...request }) => {
      const from = startedAt?.get(serverKey(request));
      const at =
        from === undefined || request.endedAt === undefined ? undefined : from + 1000 * request.endedAt;
      return { ...request, ...(at !== undefined && { endedAtMs: at }) };
    }),
    running: ledger.running.map((running) => {
      const { progress: _, ...rest } = running;
      const live = liveRequest(running, seconds, curve);
      return { ...rest, ...(live !== undefined && { live }) };
    }),
    ...(limit !== undefined && { limit }),
    ...(forecast !== undefined && { forecast }),
    ...(server?.mixed === true && { mixed: true }),
    causes: causeCosts(ledger.requests),
  };
}

/** What reading again has cost so far. */
export function causeCosts(requests: readonly RequestRecord[]): CauseCost[] {
  const costs = new Map<RereadKind, CauseCost>();
  for (const { reread } of requests) {
    if (reread === undefined) continue;
    const before = costs.get(reread.kind);
    const seconds =
      reread.seconds === undefined || (before !== undefined && before.seconds === undefined)
        ? undefined
        : (before?.seconds ?? 0) + reread.seconds;
    costs.set(reread.kind, {
      kind: reread.kind,
      times: (before?.times ?? 0) + 1,
      tokens: (before?.tokens ?? 0) + reread.tokens,
      ...(seconds !== undefined && { seconds }),
      last: reread,
    });
  }
  return [...costs.values()].toSorted((one, other) => other.tokens - one.tokens);
}
