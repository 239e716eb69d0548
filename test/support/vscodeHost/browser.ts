import path from "node:path";
import { pathToFileURL } from "node:url";
import { chromium, type Browser } from "playwright-core";
import { repository } from "../repository";

/** Headless Chromium (`$CHROMIUM`, else the one on the PATH). */
export async function launchBrowser(): Promise<Browser> {
  const script = pathToFileURL(path.join(repository, "scripts/systemPackages.mjs")).href;
  const { findBrowser } = (await import(script)) as { findBrowser: () => string | undefined };
  const executablePath = findBrowser();
  if (executablePath === undefined)
    throw new Error("no Chromium or Chrome on the PATH; name one in CHROMIUM");
  return chromium.launch({
    executablePath,
    timeout: 120_000,
    args: [
      ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage"],
      ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
    ],
  });
}
