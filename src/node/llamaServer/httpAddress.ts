import { say } from "../../core/text";
import { UserError } from "../../core/userError";

/**
 * The root address of a server from what a person types: `127.0.0.1:8080`, `http://host:9931/`, or an OpenAI client's
 * `http://host:9931/v1`. An `--api-prefix` path stays.
 */
export function serverAddress(typed: string): string {
  const text = typed.trim();
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hostname === "") {
    throw new UserError(
      "invalidInput",
      say`"${text.slice(0, 200)}" is not the address of a server.`,
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
  return url.origin + url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "");
}
