/**
 * Stands in for the desktop's `code` executable: takes the arguments that @vscode/test-electron passes, runs the tests in
 * the extension host of a VS Code server whose window is a headless Chromium, and exits with the tests' exit code.
 * LLAMA_GAUGE_VSCODE_HOST chooses the host, LLAMA_GAUGE_VSCODE_VERBOSE=1 shows all logs.
 */
import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { format, parseArgs } from "node:util";
import type { Browser, Page } from "playwright-core";
import { launchBrowser } from "./browser";
import { extensionLog } from "./extensionLog";
import { startVscodeServer, type VscodeServer } from "./vscodeServer";
import { workbenchUrl } from "./workbenchUrl";

const timeLimitMs = Number(process.env["LLAMA_GAUGE_VSCODE_TIMEOUT_S"] ?? 600) * 1000;
const verbose = process.env["LLAMA_GAUGE_VSCODE_VERBOSE"] === "1";

/** What the workbench itself says to the console all the time; the tests' own output arrives the same way. */
const chatter =
  /^(?:Error: |\w+: )?(Resolv(ing|ed) connection token|Creating a socket|\[reconnection-grace-time\]|Creation of workbench contribution|Updating additional builtin extensions|\[AccountPolicyGate\]|\[AgentHost|Extension host \(.*\) is (un)?responsive|Timed out waiting for authentication provider|\[Service Worker\] registration|Started local extension host|Invoking resolveAuthority|Ignoring fetching additional builtin|Ignoring the error while|Settings Sync|\[storage|Canceled: Canceled|\[DefaultAccount\]|No search provider registered|Error while fetching|\[perf\])/;

async function runTests(commandLine: readonly string[], signal: AbortSignal): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...commandLine],
    allowPositionals: true,
    strict: false,
    options: {
      extensionDevelopmentPath: { type: "string", multiple: true },
      extensionTestsPath: { type: "string" },
      "user-data-dir": { type: "string" },
      "extensions-dir": { type: "string" },
      "disable-extensions": { type: "boolean" },
    },
  });
  const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
  const userDataDir = text(values["user-data-dir"]);
  const extensionsDir = text(values["extensions-dir"]);
  let server: VscodeServer | undefined;
  let browser: Browser | undefined;
  try {
    const launching = launchBrowser();
    launching.catch(() => undefined);
    server = await startVscodeServer({
      host: process.env["LLAMA_GAUGE_VSCODE_HOST"] === "oldest" ? "oldest" : "newest",
      sourceExtensions: true,
      ...(userDataDir !== undefined && { userDataDir }),
      ...(extensionsDir !== undefined && { extensionsDir }),
    });
    browser = await launching;
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const url = workbenchUrl(server.origin, {
      open: positionals.find((name) => name.endsWith(".code-workspace") || isFolder(name)),
      files: positionals.filter((name) => !name.endsWith(".code-workspace") && !isFolder(name)),
      extensionDevelopmentPaths: (values.extensionDevelopmentPath ?? [])
        .flatMap((v) => text(v) ?? [])
        .map(toPath),
      extensionTestsPath: entryPoint(text(values.extensionTestsPath)),
      disableExtensions: values["disable-extensions"] === true,
    });
    const exitCode = await testsExitCode(await context.newPage(), url, server, signal);
    if (exitCode !== 0) console.error(`The extension's log:\n${await extensionLog(server.userDataDir, 200)}`);
    return exitCode;
  } finally {
    await browser?.close().catch(() => undefined);
    if (verbose && server) console.error(server.log());
    await server?.stop();
  }
}

/** Opens the window and waits for what the workbench says when the tests have ended. */
function testsExitCode(page: Page, url: string, server: VscodeServer, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const failed = (why: string): void => reject(new Error(why));
    const serverWatch = setInterval(() => {
      if (server.ended()) failed(`VS Code's server ended\n${server.log().slice(-4000)}`);
    }, 500);
    const limit = setTimeout(
      () => failed(`the tests did not end within ${timeLimitMs / 1000} s`),
      timeLimitMs,
    );
    signal.addEventListener("abort", () => failed("interrupted"));
    page.on("crash", () => failed("the window crashed"));
    page.on("close", () => failed("the window was closed"));
    const open = async (): Promise<void> => {
      await page.exposeFunction("codeAutomationLog", (type: string, args: unknown[]) => {
        const line = format(...args);
        if (verbose || !chatter.test(line))
          (type === "error" ? process.stderr : process.stdout).write(`${line}\n`);
      });
      await page.exposeFunction("codeAutomationExit", (code: number) => {
        endsNormally(server).then((normally) => {
          if (!normally) failed("the extension host crashed");
          else resolve(code);
        }, reject);
      });
      await page.goto(url, { waitUntil: "domcontentloaded", timeout: 120_000 });
    };
    open().catch(reject);
    page.once("close", () => {
      clearInterval(serverWatch);
      clearTimeout(limit);
    });
  });
}

/** The workbench reports exit code 0 also when the extension host crashed; the server's log knows. */
async function endsNormally(server: VscodeServer): Promise<boolean> {
  for (let attempt = 0; attempt < 300 && server.extensionHostEnds().length === 0; attempt++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const ends = server.extensionHostEnds();
  return ends.length > 0 && ends.every(Boolean);
}

function isFolder(name: string): boolean {
  return existsSync(name) && statSync(name).isDirectory();
}

function toPath(name: string): string {
  return name.startsWith("file:") ? fileURLToPath(name) : name;
}

function entryPoint(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const file = toPath(name);
  if (isFolder(file)) return path.join(file, "index.js");
  return /\.[cm]?js$/.test(file) ? file : `${file}.js`;
}

const interruption = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, () => interruption.abort());
void runTests(process.argv.slice(2), interruption.signal)
  .catch((error: unknown) => {
    console.error(`VS Code for tests: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  })
  .then((code) => process.exit(code));
