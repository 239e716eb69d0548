import path from "node:path";
import { execa } from "execa";
import { repository } from "../../support/repository";

/** What `llama-gauge check … --json` prints, as far as the surfaces show it. */
export interface CheckResult {
  readonly tokens: {
    readonly tokens: number;
    readonly files: readonly { readonly path: string; readonly tokens: number; readonly bytes: number }[];
    readonly skipped: readonly { readonly path: string; readonly reason: string }[];
  };
  readonly acceptance: {
    readonly promptTokens: number;
    readonly nCtxPerSlot: number | null;
    readonly answerRoom: number | null;
    readonly parts: { readonly files: number; readonly packing: number; readonly template: number };
  };
  readonly memory:
    | { readonly known: false }
    | {
        readonly known: true;
        readonly totalBytes: number;
        readonly kv: readonly { readonly bytes: number }[];
        readonly devices: readonly { readonly name: string; readonly totalBytes: number }[];
      };
  readonly verdict: { readonly kind: string };
}

/** Runs the command line of this checkout. Exit code 1 ("does not fit") is an answer, too. */
export async function check(args: readonly string[]): Promise<CheckResult> {
  // built before the first UI test, with the programs it starts beside it
  const cli = path.join(repository, "dist/cli.js");
  const { stdout, stderr, exitCode } = await execa(process.execPath, [cli, "check", ...args, "--json"], {
    reject: false,
    timeout: 60_000,
  });
  if (exitCode !== 0 && exitCode !== 1) throw new Error(`llama-gauge check failed\n${stderr}`);
  return JSON.parse(stdout) as CheckResult;
}
