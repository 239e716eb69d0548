import { commands, ConfigurationTarget, env, extensions, workspace } from "vscode";

export async function activated(): Promise<void> {
  const extension = extensions.getExtension("llama-gauge.llama-gauge");
  if (extension === undefined) throw new Error("VS Code does not know the extension");
  await extension.activate();
}

export async function configure(settings: Readonly<Record<string, unknown>>): Promise<void> {
  for (const [key, value] of Object.entries(settings)) {
    await workspace.getConfiguration("llamaGauge").update(key, value, ConfigurationTarget.Global);
  }
}

/** Runs a command that estimates; where the estimate does not come to its end, says how it ended and what is known then. */
export async function estimated(command: string, ...args: readonly unknown[]): Promise<void> {
  const outcome = await commands.executeCommand(command, ...args);
  if (outcome === "done") return;
  const facts = await copiedBy("llamaGauge.copyDiagnostics");
  throw new Error(`${command} ended as ${String(outcome)}; the extension's log says why\n${facts}`);
}

/** Clipboard text after a command that copies. */
export async function copiedBy(command: string): Promise<string> {
  await env.clipboard.writeText("");
  await commands.executeCommand(command);
  return env.clipboard.readText();
}

/** A line of *Copy Diagnostic Information*: text, or what its JSON says. */
export async function diagnostic(name: string): Promise<unknown> {
  const text = await copiedBy("llamaGauge.copyDiagnostics");
  const line = text.split("\n").find((candidate) => candidate.startsWith(`- **${name}:** `));
  if (line === undefined) throw new Error(`no "${name}" in\n${text}`);
  const value = line.slice(`- **${name}:** `.length);
  return value.startsWith("`") ? (JSON.parse(value.slice(1, -1)) as unknown) : value;
}

export async function until<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  timeoutMs = 30_000,
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
