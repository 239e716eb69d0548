// `npm run picture`: draws what is committed as pictures: the icon, the walkthrough's steps in every theme, and the README's
// picture of the real panel beside a real llama-server.
import path from "node:path";
import { drawIcon } from "./icon.mjs";
import { main, run } from "./run.mjs";

const root = path.join(import.meta.dirname, "..");

await main(async () => {
  await drawIcon(path.join(root, "media/icon.png"));
  const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
  const args = [vitest, "run", "--root", "test", "--config", "vitest.pictures.config.mjs"];
  for (const file of ["pictures/walkthrough", "pictures/readme"])
    await run(process.execPath, [...args, file], { cwd: root, what: file });
  console.log("media/icon.png, media/walkthrough, media/screenshot.png, media/screenshot.drawn.md");
});
