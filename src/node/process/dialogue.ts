import { execa } from "execa";
import { inTime } from "../waiting/within";
import { asTree, guardTree } from "./processTree";

/** A program that answers every line with a line, for as long as it is needed. */
export interface Dialogue {
  /** undefined where it has ended, or does not answer in time: then it has nothing to say any more. */
  ask(line: string): Promise<string | undefined>;
  /** Ends it and everything it started. */
  close(): void;
}

/** @param patience milliseconds an answer may take */
export function startDialogue(program: string, args: readonly string[], patience: number): Dialogue {
  const subprocess = execa(program, args, {
    ...asTree,
    reject: false,
    buffer: false,
    stdin: "pipe",
    stderr: "ignore",
  });
  const tree = guardTree(subprocess.pid);
  subprocess.then(
    () => tree.over(),
    () => tree.over(),
  );
  // it may have ended when it is asked
  subprocess.stdin.on("error", () => undefined);
  const lines: AsyncIterator<unknown> = subprocess.iterable();
  let open = true;
  const close = (): void => {
    open = false;
    subprocess.stdin.end();
    tree.kill();
  };
  return {
    ask: async (line) => {
      if (!open) return undefined;
      subprocess.stdin.write(`${line}\n`);
      const answer = await inTime(
        lines.next().catch(() => undefined),
        patience,
      );
      if (typeof answer?.value === "string") return answer.value;
      close();
      return undefined;
    },
    close,
  };
}

/** A script that reads lines, in one PowerShell: starting it costs more than all its answers. */
export function startPowerShell(script: string, patience: number): Dialogue {
  const encoded = Buffer.from(script, "utf16le").toString("base64");
  const args = ["-NoProfile", "-NonInteractive", "-EncodedCommand", encoded];
  return startDialogue("powershell.exe", args, patience);
}
