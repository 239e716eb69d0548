import { buildHas, buildNumber } from "../launch/builds";
import type { Timespan } from "./timespan";

/** A client that gives up where nothing has come for so long, unless its user has set another limit. */
export interface ClientTimeout {
  readonly client: string;
  /** Default. */
  readonly seconds: number;
  /** Who says so. */
  readonly source: string;
}

/** Limits that users of slow local servers have met. */
const libraries: readonly ClientTimeout[] = [
  {
    client: "fetch in Node.js",
    seconds: 300,
    source: "https://github.com/nodejs/undici/blob/main/docs/docs/api/Client.md",
  },
  { client: "OpenAI SDK", seconds: 600, source: "https://github.com/openai/openai-python#timeouts" },
];

/** Agents always stream. */
const agents: readonly ClientTimeout[] = [
  { client: "Cline", seconds: 300, source: "https://github.com/cline/cline/issues/9328" },
  { client: "Kilo Code", seconds: 300, source: "https://github.com/Kilo-Org/kilocode/issues/1681" },
  { client: "Roo Code", seconds: 600, source: "https://github.com/RooCodeInc/Roo-Code/issues/3621" },
];

/** Clients that hear nothing for longer than they wait, even if everything is as quick as the band allows. */
export interface GivingUp {
  /** firstToken: the server is silent until then, streaming or not; answer: without streaming, until the answer is there. */
  readonly before: "firstToken" | "answer";
  readonly clients: readonly ClientTimeout[];
}

/**
 * A streamed response of today's llama-server begins at once, and a ping every 30 s keeps it alive; without streaming
 * nothing comes before the whole answer (seen on b11669). Before the pings both were silent until the first token.
 */
export function givingUp(
  firstToken: Timespan,
  answered: Timespan | undefined,
  build: string | undefined,
): GivingUp | undefined {
  const pings = buildHas(buildNumber(build), "ssePings");
  const silence = (pings ? answered : undefined) ?? firstToken;
  const clients = (pings ? libraries : [...libraries, ...agents]).filter(
    ({ seconds }) => seconds < silence.lowSeconds,
  );
  return clients.length === 0 ? undefined : { before: pings ? "answer" : "firstToken", clients };
}
