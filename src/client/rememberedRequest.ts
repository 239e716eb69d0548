import type { Memento } from "vscode";
import type { EstimateRequest } from "./estimator";

const key = "lastRequest";

/** The last estimate of files in this workspace, so that "refresh" works after the window is reloaded. */
export class RememberedRequest {
  constructor(private readonly memento: Memento) {}

  get value(): EstimateRequest | undefined {
    const value: unknown = this.memento.get(key);
    return isRequest(value) ? value : undefined;
  }

  /** Text in memory is not remembered. */
  set value(request: EstimateRequest | undefined) {
    if (request === undefined || request.source !== undefined) return;
    void this.memento.update(key, { label: request.label, roots: request.roots });
  }
}

function isRequest(value: unknown): value is EstimateRequest {
  return (
    typeof value === "object" &&
    value !== null &&
    "label" in value &&
    typeof value.label === "string" &&
    "roots" in value &&
    Array.isArray(value.roots) &&
    value.roots.every((root) => typeof root === "string")
  );
}
