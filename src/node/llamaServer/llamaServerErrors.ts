import { readServerError, type ServerError } from "../../core/acceptance/serverReplies";
import { UnexpectedValue } from "../../core/wire";
import { bytes, seconds, say, type Text } from "../../core/text";
import { UserError } from "../../core/userError";
import { HttpError, type HttpFailure, type HttpReply } from "./httpJson";

/** What was being done, for the sentence: a server that has answered before and is silent now has disappeared. */
export type Doing = "asking" | "counting" | "streaming";

/** What llama-server said when it refused or gave up, as the cause of its `UserError`. */
export class ServerSaid extends Error {
  override readonly name = "ServerSaid";

  constructor(readonly error: ServerError) {
    super(error.message);
  }
}

/** The one sentence and the one next step for an exchange that brought no reply. Aborts pass through. */
export function errorOfExchange(cause: unknown, url: string, doing: Doing): unknown {
  return cause instanceof HttpError ? errorOfFailure(cause.failure, url, doing, cause) : cause;
}

function errorOfFailure(failure: HttpFailure, url: string, doing: Doing, cause: HttpError): UserError {
  const options = { cause };
  const gone = failure.kind === "disconnected" || failure.kind === "refused";
  if (doing === "counting" && gone) {
    return new UserError(
      "outsideFailed",
      say`llama-server at ${url} disappeared while tokens were counted.`,
      say`Check the end of its log, start it again, then estimate again.`,
      options,
    );
  }
  if (doing === "streaming" && gone) {
    return new UserError(
      "outsideFailed",
      say`llama-server at ${url} disappeared during a request.`,
      say`Check the end of its log, then start it again.`,
      options,
    );
  }
  switch (failure.kind) {
    case "refused":
      return new UserError(
        "refused",
        say`No server listens at ${url}.`,
        say`Start llama-server, or choose the address it listens on.`,
        options,
      );
    case "unknownHost":
      return new UserError(
        "notFound",
        say`There is no host with that name: ${url}.`,
        say`Correct the server address.`,
        options,
      );
    case "notHttp":
      return notLlamaServer(url, say`it does not speak HTTP`, cause);
    case "disconnected":
      return new UserError(
        "notFound",
        say`The program listening at ${url} closed the connection without responding.`,
        say`Check that llama-server is running at this address and port (http or https).`,
        options,
      );
    case "timeout":
      return new UserError(
        "timeout",
        say`The server at ${url} did not answer within ${seconds(failure.seconds)}.`,
        say`Check that it is not stuck or overloaded, then try again.`,
        options,
      );
    case "tooLarge":
      return new UserError(
        "badOutput",
        say`The server at ${url} sent more than ${bytes(failure.maxBytes)}, far more than llama-server would.`,
        say`Check that the address belongs to llama-server.`,
        options,
      );
    case "other":
      return new UserError(
        "outsideFailed",
        say`No answer from ${url} (${failure.detail}).`,
        say`Check the address and that llama-server is running there.`,
        options,
      );
  }
}

/** The error of a reply that is no success; `hide` is never shown. */
export function errorOfReply(reply: HttpReply, url: string, endpoint: string, hide?: string): UserError {
  const told = readServerError(reply.body);
  if (reply.status === 401 || reply.status === 403) {
    return new UserError(
      "unauthorized",
      say`llama-server at ${url} needs an API key, or a different one.`,
      say`Enter the key it was started with (--api-key).`,
    );
  }
  if (reply.status === 503 && told !== undefined) {
    return new UserError(
      "loading",
      say`llama-server at ${url} is still loading its model.`,
      say`Try again when it has loaded.`,
    );
  }
  if (told === undefined)
    return notLlamaServer(url, say`${endpoint} responded with status ${String(reply.status)}`);
  return new UserError(
    "outsideFailed",
    say`llama-server at ${url} rejected ${endpoint}: ${shown(told, hide)}`,
    say`Check the server's log for the cause.`,
    { cause: new ServerSaid(told) },
  );
}

export function notLlamaServer(url: string, evidence: Text, cause?: HttpError): UserError {
  return new UserError(
    "notFound",
    say`The program answering at ${url} is not llama-server: ${evidence}.`,
    say`Check the address and the port; llama-server's default is 9931, older versions use 8080.`,
    cause && { cause },
  );
}

/** Of a server that gave its model's memory back (`--sleep-idle-seconds`). */
export function asleep(url: string): UserError {
  return new UserError(
    "loading",
    say`llama-server at ${url} is asleep: counting would load its model again.`,
    say`Send it a request to wake it, then estimate again.`,
  );
}

/** Of a server whose `/tokenize` answers text with nothing: it has no vocabulary, or is another program. */
export function noTokens(url: string): UserError {
  return new UserError(
    "badOutput",
    say`The server at ${url} says that this text has no tokens at all.`,
    say`Check that llama-server is running there with a model that has a vocabulary.`,
  );
}

export function tooSlowToCount(url: string, limitSeconds: number, cause: Error): UserError {
  return new UserError(
    "timeout",
    say`The server at ${url} did not answer within ${seconds(limitSeconds)}.`,
    say`Check that it is not stuck or overloaded, then try again.`,
    { cause },
  );
}

function badReply(url: string, cause: UnexpectedValue): UserError {
  return new UserError(
    "badOutput",
    say`The response of the server at ${url} cannot be understood: ${cause.message}.`,
    say`Check that the address belongs to llama-server and that its version is supported.`,
    { cause },
  );
}

/** Reads a reply; a shape that is not llama-server's becomes the user's error. */
export function readReply<T>(url: string, body: unknown, read: (body: unknown) => T): T {
  try {
    return read(body);
  } catch (cause) {
    throw cause instanceof UnexpectedValue ? badReply(url, cause) : cause;
  }
}

function shown(error: ServerError, hide: string | undefined): string {
  const message = hide === undefined || hide === "" ? error.message : error.message.replaceAll(hide, "…");
  return message.length > 300 ? `${message.slice(0, 300)}…` : message;
}
