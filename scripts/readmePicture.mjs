// `npm run picture`: runs the UI test of the main job and takes its picture of the real panel into the README's media.
import { copyFileSync } from "node:fs";
import path from "node:path";
import { main, run } from "./run.mjs";

const root = path.join(import.meta.dirname, "..");

await main(async () => {
  const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
  const args = [vitest, "run", "--root", "test", "--config", "vitest.ui.config.mjs", "ui/mainJob"];
  await run(process.execPath, args, { cwd: root, what: "the UI test of the main job" });
  copyFileSync(path.join(root, "out/screenshots/readme.png"), path.join(root, "media/screenshot.png"));
  console.log("media/screenshot.png");
});
