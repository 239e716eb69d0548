import { say, type Text } from "../text";
import { UserError } from "../userError";
import { explainLog } from "./explainLog";

/** Why a llama-server ended that was to serve, from the log it left. `exitCode`: undefined where a signal ended it. */
export function startFailure(name: string, log: string, exitCode: number | undefined): UserError {
  const { events } = explainLog(log);
  const cause = events.find(({ severity }) => severity === "error");
  if (cause !== undefined) {
    return new UserError("outsideFailed", say`${name} did not start: ${cause.cause}`, cause.remedy);
  }
  const ended: Text =
    exitCode === undefined
      ? say`${name} exited before it was ready.`
      : say`${name} exited with code ${String(exitCode)} before it was ready.`;
  const [lastLine] = log
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(-1);
  return new UserError(
    "outsideFailed",
    lastLine === undefined ? ended : say`${ended} Last output: ${lastLine.trim().slice(0, 200)}`,
    say`See its terminal for details.`,
  );
}
