// `npm run picture`: runs the UI test of the main job and takes its picture of the real panel into the README's media; draws
// the walkthrough's pictures in every theme.
import { copyFileSync } from "node:fs";
import path from "node:path";
import { main, run } from "./run.mjs";

const root = path.join(import.meta.dirname, "..");

await main(async () => {
  const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
  const draw = (config, file) => {
    const args = [vitest, "run", "--root", "test", "--config", `vitest.${config}.config.mjs`, file];
    return run(process.execPath, args, { cwd: root, what: file });
  };
  await draw("pictures", "pictures/walkthrough");
  await draw("ui", "ui/mainJob");
  copyFileSync(path.join(root, "out/screenshots/readme.png"), path.join(root, "media/screenshot.png"));
  console.log("media/walkthrough, media/screenshot.png");
});
