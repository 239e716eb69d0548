import { bodyOf, headOf, type Good, type Mode } from "./exchange";
import { flood } from "./transportModes";

const send =
  (body: (good: Good) => string | Buffer): Mode =>
  async ({ good, write, end }) => {
    const sent = body(good);
    await write(`${headOf(good)}content-length: ${Buffer.byteLength(sent)}\r\n\r\n`);
    await write(sent);
    end();
  };

/** JSON.stringify knows neither 1e999 nor keys like __proto__: this one writes what it is given. */
class Literal {
  constructor(readonly text: string) {}
}

function text(value: unknown): string {
  if (value instanceof Literal) return value.text;
  if (Array.isArray(value)) return `[${value.map(text).join(",")}]`;
  if (typeof value !== "object" || value === null)
    return value === undefined ? "null" : JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}:${text(inner)}`)
    .join(",")}}`;
}

type Change = (value: unknown) => unknown;

/** `change` of every value inside, from the leaves up; undefined leaves it. */
function every(value: unknown, change: Change): unknown {
  const inner = Array.isArray(value)
    ? value.map((item) => every(item, change))
    : typeof value === "object" && value !== null
      ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, every(item, change)]))
      : value;
  const changed = change(inner);
  return changed === undefined ? inner : changed;
}

/** The good reply with every value of a kind replaced. */
const replace = (change: Change): Mode =>
  send((good) => {
    if (good.kind === "json") return text(every(good.value, change));
    if (good.kind === "events") {
      return good.values.map((value) => `data: ${text(every(value, change))}\n\n`).join("");
    }
    if (good.kind === "file") return good.bytes;
    return good.text.replace(/[\d.]+$/gm, (number) => text(change(Number(number)) ?? Number(number)));
  });

const numbers = (other: unknown): Mode => replace((value) => (typeof value === "number" ? other : undefined));
const strings = (other: unknown): Mode => replace((value) => (typeof value === "string" ? other : undefined));
const literal = (written: string): Mode => numbers(new Literal(written));
const whole = (written: string): Mode =>
  send((good) => (good.kind === "events" ? `data: ${written}\n\n` : written));
const nested = (open: string, close: string, depth: number): string =>
  open.repeat(depth) + close.repeat(depth);
const inside = (key: string, value: string): string => `{"${key}":${value}}`;

/** A reply that is JSON, or nearly, but not what llama-server would say. */
export const shapeModes: readonly (readonly [string, Mode])[] = [
  ["negative numbers", numbers(-1)],
  ["very negative numbers", numbers(-(2 ** 53))],
  ["zeros", numbers(0)],
  ["halves", numbers(0.5)],
  ["1e308", literal("1e308")],
  ["1e999", literal("1e999")],
  ["1e-320", literal("1e-320")],
  ["2^53", literal("9007199254740993")],
  ["2^31", literal("2147483648")],
  ["a number of 100,000 digits", literal("9".repeat(100_000))],
  ["NaN as text", numbers("NaN")],
  ["numbers as text", numbers("4096")],
  ["numbers as null", numbers(null)],
  ["numbers as true", numbers(true)],
  ["numbers as arrays", numbers([1])],
  ["numbers as objects", numbers({ valueOf: 1 })],
  ["bare NaN", literal("NaN")],
  ["empty texts", strings("")],
  ["texts of 1 MB", strings("a".repeat(2 ** 20))],
  ["texts as numbers", strings(5)],
  ["texts as null", strings(null)],
  ["texts as arrays", strings(["a"])],
  ["texts with NUL and line ends", strings("a\0b\r\nc\u2028d\u001b[2J")],
  ["lone surrogates", strings("\ud800")],
  ["texts named __proto__", strings("__proto__")],
  ["true as text", replace((value) => (typeof value === "boolean" ? "false" : undefined))],
  [
    "arrays as objects",
    replace((value) => (Array.isArray(value) ? Object.fromEntries(value.entries()) : undefined)),
  ],
  ["arrays as null", replace((value) => (Array.isArray(value) ? null : undefined))],
  ["empty arrays", replace((value) => (Array.isArray(value) ? [] : undefined))],
  ["arrays in arrays", replace((value) => (Array.isArray(value) ? [value] : undefined))],
  [
    "arrays of 200,000",
    replace((value) =>
      // not again around what is long already
      Array.isArray(value) && JSON.stringify(value).length < 10_000
        ? Array<unknown>(200_000).fill(value[0] ?? 0)
        : undefined,
    ),
  ],
  ["objects as arrays", replace((value) => (isObject(value) ? Object.values(value) : undefined))],
  ["objects as null", replace((value) => (isObject(value) ? null : undefined))],
  ["empty objects", replace((value) => (isObject(value) ? {} : undefined))],
  [
    "objects with __proto__",
    replace((value) =>
      isObject(value)
        ? new Literal(
            text(value).replace(
              /^\{/,
              '{"__proto__":{"n_ctx":5,"tokens":[1]},"constructor":{"prototype":{}},',
            ),
          )
        : undefined,
    ),
  ],
  [
    "only __proto__",
    replace((value) => (isObject(value) ? new Literal(inside("__proto__", text(value))) : undefined)),
  ],
  [
    "objects with toString",
    replace((value) =>
      isObject(value)
        ? new Literal(text(value).replace(/^\{/, '{"toString":1,"valueOf":2,"toJSON":3,"then":4,'))
        : undefined,
    ),
  ],
  ...[
    "null",
    "true",
    "0",
    '""',
    "[]",
    "{}",
    "[[]]",
    "[null]",
    "NaN",
    "undefined",
    "{",
    "]",
    '"',
    "{}{}",
    "\u0000",
  ].map((written) => [`only ${JSON.stringify(written)}`, whole(written)] as const),
  ["nothing", send(() => "")],
  ["arrays 1,000,000 deep", whole(nested("[", "]", 1_000_000))],
  ["objects 200,000 deep", whole(nested('{"a":', "}", 200_000).replace(/:\}/, ":1}"))],
  ["an error 100,000 deep", whole(inside("error", nested("[", "]", 100_000)))],
  ["tokens 100,000 deep", whole(inside("tokens", nested("[", "]", 100_000)))],
  ["a prompt progress 100,000 deep", whole(inside("prompt_progress", nested("[", "]", 100_000)))],
  ["an error as text", whole('{"error":"words"}')],
  ["an error as number", whole('{"error":5}')],
  ["an error without words", whole('{"error":{"message":5,"type":[]}}')],
  ["an error of 3 MB", whole(inside("error", inside("message", JSON.stringify("a".repeat(3e6)))))],
  ["200,000 keys", whole(`{${Array.from({ length: 200_000 }, (_, i) => `"k${i}":0`).join(",")}}`)],
  ["byte order mark", send((good) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bodyOf(good)]))],
  ["UTF-16", send((good) => Buffer.from(bodyOf(good).toString("utf8"), "utf16le"))],
  ["invalid UTF-8", send((good) => Buffer.from(bodyOf(good).map((byte) => (byte === 0x61 ? 0xff : byte))))],
  ["cut in the middle", send((good) => bodyOf(good).subarray(0, bodyOf(good).length / 2))],
  ["twice", send((good) => Buffer.concat([bodyOf(good), bodyOf(good)]))],
  ["HTML", send(() => "<!doctype html><html><body>It works!</body></html>")],
  ["a router", whole('{"role":"router"}')],
  ["tokens: one", whole('{"tokens":[1]}')],
  ["tokens: minus one", whole('{"tokens":[-1,-1,-1,-1]}')],
  ["a megabyte of metrics", send(() => "llamacpp:prompt_tokens_total 1\n".repeat(34_000))],
];

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Literal);
}

const stream =
  (rest: (write: (event: string) => Promise<void>, exchange: Parameters<Mode>[0]) => Promise<void>): Mode =>
  async (exchange) => {
    await exchange.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n");
    await rest(exchange.write, exchange);
  };

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const progress = (processed: number): string =>
  event({ prompt_progress: { total: 64, cache: 0, processed, time_ms: processed } });

/** Streams of `/completion`. */
export const streamModes: readonly (readonly [string, Mode])[] = [
  ["progress without end", stream((_, exchange) => flood(exchange, progress(5).repeat(500)))],
  [
    "growing progress without end",
    stream(async (write, exchange) => {
      for (let i = 0; !exchange.gone(); i++) {
        await write(progress(i).repeat(50));
        if (i % 20 === 0) await exchange.pause(0);
      }
    }),
  ],
  ["comments without end", stream((_, exchange) => flood(exchange, ": still here\n\n".repeat(2000)))],
  [
    "content without end",
    stream((_, exchange) => flood(exchange, event({ content: "a".repeat(9000), tokens: [1] }))),
  ],
  [
    "content trickles",
    stream(async (write, exchange) => {
      while (!exchange.gone()) {
        await write(event({ content: "a", tokens: [1] }));
        await exchange.pause(10);
      }
    }),
  ],
  [
    "one event in pieces of 64 bytes",
    stream(async (write, exchange) => {
      await write('data: {"content":"');
      for (let i = 0; !exchange.gone(); i++) {
        await write("a".repeat(64));
        if (i % 50 === 0) await exchange.pause(0);
      }
    }),
  ],
  ["everything but the end", stream((write, { good }) => write(bodyOf(good).toString()))],
  ["only [DONE]", stream((write, { end }) => write("data: [DONE]\n\n").then(end))],
  ["progress and no timings", stream((write, { end }) => write(progress(64)).then(end))],
  [
    "progress going back",
    stream((write, { end }) => write(progress(64) + progress(3) + progress(-9)).then(end)),
  ],
  ["stop without timings", stream((write, { end }) => write(event({ stop: true, content: "" })).then(end))],
  [
    "timings of another run",
    stream((write, { end }) =>
      write(
        event({
          stop: true,
          timings: { prompt_n: 1e15, prompt_ms: 1e-9, predicted_n: 1e15, predicted_ms: -5 },
        }),
      ).then(end),
    ),
  ],
  [
    "a million ids",
    stream((write, { end }) =>
      write(event({ content: "", tokens: Array<number>(400_000).fill(1) }).repeat(3)).then(end),
    ),
  ],
  [
    "CRLF",
    stream((write, { good, end }) => write(bodyOf(good).toString().replaceAll("\n", "\r\n")).then(end)),
  ],
];

const part =
  (status: number, range: string, body: (bytes: Buffer) => Buffer): Mode =>
  async ({ good, write, end }) => {
    const sent = body(bodyOf(good));
    await write(
      `HTTP/1.1 ${status} Any\r\nconnection: close\r\n${range}content-length: ${sent.length}\r\n\r\n`,
    );
    await write(sent);
    end();
  };
const same = (bytes: Buffer): Buffer => bytes;
const nothing = (): Buffer => Buffer.alloc(0);

/** Answers to a request for a range of a file. */
export const rangeModes: readonly (readonly [string, Mode])[] = [
  ["empty 206", part(206, "content-range: bytes 0-0/100000000\r\n", nothing)],
  [
    "one byte each time",
    part(206, "content-range: bytes 0-0/100000000\r\n", (bytes) => bytes.subarray(0, 1)),
  ],
  ["206 without range", part(206, "", same)],
  ...["*", "-1", "0", "NaN", "1e23", "100000000000000000000000", "9007199254740993", "5"].map(
    (total) =>
      [`a file of ${total} bytes`, part(206, `content-range: bytes 0-1048575/${total}\r\n`, same)] as const,
  ),
  ["another range", part(206, "content-range: bytes 7-1048582/100000000\r\n", same)],
  [
    "more than asked for",
    part(206, "content-range: bytes 0-9/100000000\r\n", () => Buffer.alloc(3 * 2 ** 20)),
  ],
  [
    "nothing but zeros",
    part(206, "content-range: bytes 0-1048575/100000000\r\n", () => Buffer.alloc(2 ** 20)),
  ],
  [
    "200 with zeros without end",
    async (exchange) => {
      await exchange.write("HTTP/1.1 200 OK\r\n\r\n");
      await flood(exchange, Buffer.alloc(65_536));
    },
  ],
  [
    "200 with a header that asks for more",
    async (exchange) => {
      await exchange.write("HTTP/1.1 200 OK\r\n\r\n");
      await exchange.write(greedyHeader);
      await flood(exchange, Buffer.alloc(65_536, 97));
    },
  ],
  [
    "206 with a header that asks for more",
    async (exchange) => {
      const { good } = exchange;
      const from = good.kind === "file" ? good.from : 0;
      const body =
        from === 0
          ? Buffer.concat([greedyHeader, Buffer.alloc(2 ** 20 - greedyHeader.length, 97)])
          : Buffer.alloc(100, 97);
      await part(
        206,
        `content-range: bytes ${from}-${from + body.length - 1}/1000000000000\r\n`,
        () => body,
      )(exchange);
    },
  ],
];

/** A GGUF whose first value is a text of 30 MB. */
const greedyHeader = ((): Buffer => {
  const bytes = Buffer.alloc(24 + 8 + 1 + 4 + 8);
  bytes.write("GGUF");
  bytes.writeUInt32LE(3, 4);
  bytes.writeBigUInt64LE(1n, 16);
  bytes.writeBigUInt64LE(1n, 24);
  bytes.write("a", 32);
  bytes.writeUInt32LE(8, 33);
  bytes.writeBigUInt64LE(30_000_000n, 37);
  return bytes;
})();
