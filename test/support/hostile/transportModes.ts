import { gzipSync } from "node:zlib";
import { bodyOf, headOf, type Exchange, type Mode } from "./exchange";

/** Writes without end as fast as the other side takes it. */
export async function flood(exchange: Exchange, bytes: string | Buffer): Promise<void> {
  while (!exchange.gone()) {
    await exchange.write(bytes);
    await exchange.pause(0);
  }
}

/** Writes piece after piece, with pauses, without end. */
async function trickle(exchange: Exchange, pieces: string, milliseconds = 5): Promise<void> {
  for (let at = 0; !exchange.gone(); at = (at + 1) % pieces.length) {
    await exchange.write(pieces.charAt(at));
    await exchange.pause(milliseconds);
  }
}

const raw =
  (text: string): Mode =>
  async ({ write, end }) => {
    await write(text);
    end();
  };

/** The good body behind other headers. */
const headers =
  (lines: (length: number) => string, change: (body: Buffer) => Buffer = (body) => body): Mode =>
  async ({ good, write, end }) => {
    const body = change(bodyOf(good));
    await write(`${headOf(good)}${lines(body.length)}\r\n`);
    await write(body);
    end();
  };

/** Headers that begin well, then what `rest` does. */
const afterHead =
  (length: string, rest: (exchange: Exchange) => Promise<void> | void): Mode =>
  async (exchange) => {
    await exchange.write(`${headOf(exchange.good)}${length}\r\n`);
    await rest(exchange);
  };

const json = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
const chunked = "transfer-encoding: chunked\r\n";
const chunk = (size: number): string => `${size.toString(16)}\r\n${" ".repeat(size)}\r\n`;
const bomb = gzipSync(Buffer.alloc(64 * 2 ** 20));

/** What can go wrong before and beside the content. */
export const transportModes: readonly (readonly [string, Mode])[] = [
  ["no answer", () => undefined],
  ["closed without a word", ({ end }) => end()],
  ["reset without a word", ({ reset }) => reset()],
  ["garbage", raw("\0\u0001\u0002 not http at all \r\n\r\n")],
  ["garbage without end", (exchange) => flood(exchange, Buffer.alloc(65_536, 7))],
  ["a TLS record", raw("\x15\x03\x01\x00\x02\x02\x28")],
  ["an SSH greeting", raw("SSH-2.0-OpenSSH_9.6\r\n")],
  ["HTTP/0.9", raw('{"status":"ok"}')],
  ["half a status line", raw("HTTP/1.1 20")],
  ["half a status line, then silence", ({ write }) => write("HTTP/1.1 20")],
  ["status 99999", raw("HTTP/1.1 99999 Many\r\n\r\n")],
  ["status 0", raw("HTTP/1.1 0 None\r\n\r\n")],
  ["negative status", raw("HTTP/1.1 -200 OK\r\n\r\n")],
  ["HTTP/9.9", raw("HTTP/9.9 200 OK\r\n\r\n{}")],
  ["ICY", raw("ICY 200 OK\r\n\r\n{}")],
  ["headers that never end", ({ write }) => write(`${json}x-one: `)],
  ["headers that trickle", (exchange) => trickle(exchange, `${json}x-name: value\r\nx-other: value\r\n`)],
  [
    "headers without end",
    async (exchange) => {
      await exchange.write("HTTP/1.1 200 OK\r\n");
      await flood(exchange, "x-name: value\r\n".repeat(4000));
    },
  ],
  ["a header of 1 MB", headers(() => `x-long: ${"a".repeat(2 ** 20)}\r\n`)],
  ["NUL in a header", headers(() => "x-name: a\0b\r\n")],
  ["a line feed in a header", headers(() => "x-name: a\nb\r\n")],
  ["a header without colon", headers(() => "nonsense\r\n")],
  ["a header folded", headers((n) => `x-name: a\r\n b\r\ncontent-length: ${n}\r\n`)],
  ["100 without end", (exchange) => flood(exchange, "HTTP/1.1 100 Continue\r\n\r\n".repeat(100))],
  [
    "103 without end",
    (exchange) => flood(exchange, "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(100)),
  ],
  ["101", raw("HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n")],
  [
    "101, then silence",
    ({ write }) => write("HTTP/1.1 101 Switching\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n"),
  ],
  ["two lengths", headers((n) => `content-length: ${n}\r\ncontent-length: ${n + 5}\r\n`)],
  ["length and chunks", headers((n) => `content-length: ${n}\r\n${chunked}`)],
  ["negative length", headers(() => "content-length: -5\r\n")],
  ["length 1e23", headers(() => "content-length: 100000000000000000000000\r\n")],
  ["length of 8 TB", headers(() => "content-length: 8796093022208\r\n")],
  ["length in words", headers(() => "content-length: many\r\n")],
  ["shorter than its length", headers((n) => `content-length: ${n + 100}\r\n`)],
  ["shorter than its length, then silence", afterHead("content-length: 1000\r\n", ({ write }) => write("{"))],
  ["longer than its length", headers((n) => `content-length: ${Math.max(0, n - 3)}\r\n`)],
  ["length 0", headers(() => "content-length: 0\r\n")],
  ["a chunk of impossible size", afterHead(chunked, ({ write }) => write("FFFFFFFFFFFFFFFFF\r\n{}"))],
  ["a chunk of 2^60 bytes", afterHead(chunked, ({ write }) => write("FFFFFFFFFFFFFFF\r\n{}"))],
  ["chunks without a size", afterHead(chunked, ({ write, end }) => write("zz\r\n{}\r\n").then(end))],
  [
    "chunk extensions without end",
    afterHead(chunked, (exchange) => flood(exchange, `1;${"a".repeat(65_536)}`)),
  ],
  ["chunks without end", afterHead(chunked, (exchange) => flood(exchange, chunk(65_536)))],
  [
    "chunks of one byte without end",
    afterHead(chunked, (exchange) => flood(exchange, chunk(1).repeat(2000))),
  ],
  [
    "trailers without end",
    afterHead(chunked, async (exchange) => {
      await exchange.write("2\r\n{}\r\n0\r\n");
      await flood(exchange, "x-name: value\r\n".repeat(1000));
    }),
  ],
  ["chunks that never close", afterHead(chunked, ({ write }) => write("2\r\n{}\r\n"))],
  ["silence after the headers", afterHead("", () => undefined)],
  ["reset after the headers", afterHead("", ({ reset }) => reset())],
  ["a body that trickles", afterHead("", (exchange) => trickle(exchange, '{"a": 1, '))],
  ["spaces that trickle", afterHead("", (exchange) => trickle(exchange, " "))],
  ["spaces without end", afterHead("", (exchange) => flood(exchange, " ".repeat(65_536)))],
  [
    "an array without end",
    afterHead("", async (exchange) => {
      await exchange.write('{"tokens":[1');
      await flood(exchange, ",1".repeat(32_768));
    }),
  ],
  ["one line without end", afterHead("", (exchange) => flood(exchange, "data: ".padEnd(4096, "a")))],
  [
    "half the body, then silence",
    async ({ good, write }) => {
      const body = bodyOf(good);
      await write(`${headOf(good)}content-length: ${body.length}\r\n\r\n`);
      await write(body.subarray(0, body.length / 2));
    },
  ],
  [
    "half the body, then reset",
    async ({ good, write, reset, pause }) => {
      const body = bodyOf(good);
      await write(`${headOf(good)}content-length: ${body.length}\r\n\r\n`);
      await write(body.subarray(0, body.length / 2));
      await pause(20);
      reset();
    },
  ],
  [
    "the whole body, then silence",
    async ({ good, write }) => {
      await write(`${headOf(good)}\r\n`);
      await write(bodyOf(good));
    },
  ],
  ["said to be gzip", headers((n) => `content-encoding: gzip\r\ncontent-length: ${n}\r\n`)],
  [
    "gzip bomb",
    headers(
      (n) => `content-encoding: gzip\r\ncontent-length: ${n}\r\n`,
      () => bomb,
    ),
  ],
  ["said to be br", headers((n) => `content-encoding: br\r\ncontent-length: ${n}\r\n`)],
  [
    "gzip a hundred times",
    headers((n) => `content-encoding: ${"gzip, ".repeat(100)}gzip\r\ncontent-length: ${n}\r\n`),
  ],
];

const status =
  (code: number, lines = "", body?: string): Mode =>
  async ({ good, write, end }) => {
    const sent = body ?? bodyOf(good);
    await write(
      `HTTP/1.1 ${code} Any\r\nconnection: close\r\n${lines}content-length: ${sent.length}\r\n\r\n`,
    );
    await write(sent);
    end();
  };

const llamaError = (code: number): string =>
  JSON.stringify({ error: { code, message: "words", type: "any_error" } });

/** The same place again, one step further each time. */
const redirect =
  (code: number, to: (path: string) => string): Mode =>
  (exchange) =>
    status(code, `location: ${to(exchange.endpoint)}\r\n`, "")(exchange);

export const statusModes: readonly (readonly [string, Mode])[] = [
  ...[201, 202, 203, 205, 206, 226, 300, 304, 402, 405, 407, 408, 413, 416, 418, 451, 502, 504, 599, 999].map(
    (code) => [`status ${code}`, status(code)] as const,
  ),
  ["status 204", raw("HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")],
  ...[400, 401, 403, 404, 429, 500, 501, 503].flatMap((code) => [
    [`status ${code}`, status(code, "retry-after: 1e9\r\n", llamaError(code))] as const,
    [`status ${code}, no body`, status(code, "", "")] as const,
  ]),
  ["status 502, HTML", status(502, "content-type: text/html\r\n", "<html><h1>502 Bad Gateway</h1></html>")],
  [
    "status 500, a body without end",
    async (exchange) => {
      await exchange.write("HTTP/1.1 500 Any\r\n\r\n");
      await flood(exchange, "a".repeat(65_536));
    },
  ],
  ["status 500, then silence", ({ write }) => write("HTTP/1.1 500 Any\r\n\r\n")],
  ["status 404, then silence", ({ write }) => write("HTTP/1.1 404 Any\r\ncontent-length: 10\r\n\r\n")],
  ["redirect to itself", redirect(302, (path) => path.slice(1))],
  ["redirect without end", redirect(307, (path) => `.${path}?${Math.random()}`)],
  ["redirect to a file", redirect(301, () => "file:///etc/passwd")],
  ["redirect to nothing", redirect(308, () => "http://127.0.0.1:1/")],
  ["redirect nowhere", redirect(302, () => "")],
  ["redirect to nonsense", redirect(302, () => "http://[::bad")],
  ["redirect to data", redirect(302, () => "data:application/json,{}")],
];
