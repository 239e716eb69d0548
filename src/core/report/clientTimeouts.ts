/** A client that gives up where no answer has begun by then, unless its user has set another limit. */
export interface ClientTimeout {
  readonly client: string;
  /** Default. */
  readonly seconds: number;
  /** Where that is said. */
  readonly source: string;
}

/**
 * Limits that users of slow local servers have met, shortest first. llama-server sends a response's headers with its first
 * token, and without streaming with the last one, so that a limit for headers is one for the first token at best.
 */
export const clientTimeouts: readonly ClientTimeout[] = [
  {
    client: "Node.js fetch",
    seconds: 300,
    source: "https://github.com/nodejs/undici/blob/main/docs/docs/api/Client.md",
  },
  { client: "Cline", seconds: 300, source: "https://github.com/cline/cline/issues/9328" },
  { client: "Kilo Code", seconds: 300, source: "https://github.com/Kilo-Org/kilocode/issues/1681" },
  { client: "OpenAI SDK", seconds: 600, source: "https://github.com/openai/openai-python#timeouts" },
  { client: "Roo Code", seconds: 600, source: "https://github.com/RooCodeInc/Roo-Code/issues/3621" },
];
