import { spawn } from "node:child_process";
import { execa } from "execa";

/** How a program is started so that all it starts can be ended with it: on POSIX it leads a process group of its own. */
export const asTree = { detached: process.platform !== "win32", windowsHide: true } as const;

/** A started program and everything that it started. */
export interface ProcessTree {
  /** Ends all of it. */
  readonly kill: () => void;
  /** It has ended by itself. */
  readonly over: () => void;
}

/** Waits for its input to end, which it does even when we are killed, and then ends the tree of the process. */
const posixGuard = 'read -r over || kill -s KILL -- "-$1"';
const windowsGuard = `
let over = false;
process.stdin.on("data", () => { over = true; });
process.stdin.on("end", () => {
  if (!over) require("child_process").spawnSync("taskkill", ["/PID", process.argv[1], "/T", "/F"]);
});`;

/** The tree of a program that was started `asTree`; it ends with us, whatever ends us. */
export function guardTree(pid: number | undefined): ProcessTree {
  if (pid === undefined) return { kill: () => undefined, over: () => undefined };
  const [program, args] =
    process.platform === "win32"
      ? ([process.execPath, ["-e", windowsGuard]] as const)
      : (["/bin/sh", ["-c", posixGuard, "sh"]] as const);
  const guard = spawn(program, [...args, String(pid)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    windowsHide: true,
    env: { ...process.env, ELECTRON_RUN_AS_NODE: "1", NODE_OPTIONS: "" },
  });
  guard.on("error", () => undefined);
  guard.stdin.on("error", () => undefined);
  guard.unref();
  const over = (): void => void guard.stdin.end("over\n");
  return {
    kill: () => {
      killTree(pid);
      over();
    },
    over,
  };
}

function killTree(pid: number): void {
  if (process.platform === "win32") {
    execa("taskkill", ["/PID", String(pid), "/T", "/F"], { reject: false, timeout: 10_000 }).catch(
      () => undefined,
    );
    return;
  }
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // it has ended already
  }
}
