// `npm start`: VS Code with the extension, the sample workspace and a real llama-server with a small model, all on this
// machine. In a desktop VS Code when `code` is on the PATH, else in any browser. Ctrl-C ends everything it started.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { clearInterval, setInterval } from "node:timers";
import { llamaCpp } from "./llamaCpp.mjs";
import { ensureNodePackages } from "./nodePackages.mjs";
import { NoRealModel, realModel } from "./realModels.mjs";
import { main } from "./run.mjs";
import { findProgram } from "./systemPackages.mjs";
import { vscodeHost } from "./vscodeHosts.mjs";

const root = path.join(import.meta.dirname, "..");
const say = (line) => console.log(line);

/** Desktop VS Code's command line, where there is a desktop. LLAMA_GAUGE_START_IN_BROWSER=1 leaves it alone. */
function desktopCode() {
  if (process.env.LLAMA_GAUGE_START_IN_BROWSER) return undefined;
  const desktop = process.platform !== "linux" || process.env.DISPLAY || process.env.WAYLAND_DISPLAY;
  return desktop ? findProgram(["code"]) : undefined;
}

/** Where VS Code opens: on the desktop from the checkout, in the browser with the packaged extension. */
async function windowFor(code, work) {
  if (code !== undefined) {
    const { buildProduct } = await import("./build.mjs");
    await buildProduct();
    return { kind: "desktop", code };
  }
  const { packageExtension } = await import("./package.mjs");
  return { kind: "browser", vsix: await packageExtension({ target: path.join(work, "llama-gauge.vsix") }) };
}

await main(async () => {
  await ensureNodePackages(root, { say });
  const { folder, version } = await llamaCpp({ say });
  process.env.LLAMA_CPP_DIR = folder;
  say(`llama.cpp ${version}`);
  // fetched here, where its progress is shown; startDemo takes the forge's where it cannot be had
  await realModel("chat", { say }).catch((error) => {
    if (!(error instanceof NoRealModel)) throw error;
  });
  const code = desktopCode();
  if (code === undefined) await vscodeHost("newest", { say });

  // this and what follows needs the npm packages
  const { bundleSupport } = await import("./testBundles.mjs");
  say("Building the extension …");
  mkdirSync(path.join(root, "out"), { recursive: true });
  const work = mkdtempSync(path.join(root, "out/start-"));
  process.once("exit", () => rmSync(work, { recursive: true, force: true }));
  const window = await windowFor(code, work);
  const { startDemo } = createRequire(import.meta.url)(await bundleSupport("demo", work));

  const interrupted = new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => resolve("Stopping …"));
  });
  const demo = await startDemo({ window, say });
  say("Right-click a folder in the Explorer and choose Estimate Context Cost. Ctrl-C here ends everything.");
  // keeps the process alive: what it waits for is not I/O
  const alive = setInterval(() => undefined, 60_000);
  say(await Promise.race([interrupted, demo.over]));
  await demo.stop();
  clearInterval(alive);
});
