import type { ExtensionContext } from "vscode";

export function activate(_context: ExtensionContext): void {
  // composition root: adapters, gauge, surfaces
}
