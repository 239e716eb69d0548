import { say } from "../text";
import { UserError } from "../userError";

/**
 * The root address of a server from what a person types or a program prints: `127.0.0.1:8080`, `http://host:9931/`, an
 * OpenAI client's `http://host:9931/v1`, a log's `http://0.0.0.0:8080`. An `--api-prefix` path stays.
 * @throws UserError where it is none
 */
export function serverAddress(typed: string): string {
  const url = urlOf(typed);
  if (url === undefined) {
    throw new UserError(
      "invalidInput",
      say`"${typed.trim().slice(0, 200)}" is not the address of a server.`,
      say`Enter it as http://HOST:PORT, for example http://127.0.0.1:9931.`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new UserError(
      "invalidInput",
      say`The server address for ${url.host} contains a user name or password.`,
      say`Remove it; llama-server accepts an API key, which is kept in the secret storage.`,
    );
  }
  const port = url.port === "" ? "" : `:${url.port}`;
  const path = url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "");
  return `${url.protocol}//${hostToAsk(url.hostname)}${port}${path}`;
}

/** The same for a setting, where what is no address has another message. */
export function serverAddressIn(typed: string): string | undefined {
  try {
    return serverAddress(typed);
  } catch {
    return undefined;
  }
}

function urlOf(typed: string): URL | undefined {
  const text = typed.trim();
  const complete = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(complete) ? new URL(complete) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined;
  // a URL may have more in its host than names have: "http=//127.0.0.1" would be one
  return /^(?:[\w.-]+|\[[\da-f:.]+\])$/.test(url.hostname) ? url : undefined;
}

/** The host to ask, as in a URL, of a server that listens on `host`: "every address" is no address to connect to. */
export function hostToAsk(host: string): string {
  if (isEveryAddress(host)) return "127.0.0.1";
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}

export function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return Number(port || (protocol === "https:" ? 443 : 80));
}

/** Whether an address leads to this machine and no other. */
export function isLocal(url: string): boolean {
  const host = urlOf(url)?.hostname;
  return host !== undefined && isLoopback(host);
}

/** Whether others on the way can read what is sent there: without TLS, to another machine. */
export function isReadableByOthers(url: string): boolean {
  return urlOf(url)?.protocol === "http:" && !isLocal(url);
}

/** Loopback addresses of both kinds, and names that mean them (RFC 6761, 6.3). */
export function isLoopback(host: string): boolean {
  return /^(?:127(?:\.\d{1,3}){3}|::1|(?:0{1,4}:){7}0{0,3}1|(?:.+\.)?localhost)$/.test(plain(host));
}

/** Whether a server with this `--host` listens on all addresses of its machine. */
export function isEveryAddress(host: string): boolean {
  return /^(?:0\.0\.0\.0|::|(?:0{1,4}:){7}0{1,4})$/.test(plain(host));
}

/** Without brackets and final dot; an IPv4 address mapped into IPv6 as IPv4. */
function plain(host: string): string {
  const name = host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
  const mapped = /^::ffff:(?:([\d.]+)|([\da-f]{1,4}):([\da-f]{1,4}))$/.exec(name);
  if (mapped === null) return name;
  const [, dotted, high = "", low = ""] = mapped;
  return (
    dotted ??
    [high, low].flatMap((hex) => [Number.parseInt(hex, 16) >> 8, Number.parseInt(hex, 16) & 255]).join(".")
  );
}
