import type { Memento } from "vscode";
import type { EstimateRequest } from "../../app/estimates";
import { inBackground } from "../editor/background";

const key = "lastRequest";
const mostLeftOut = 5000;

/** The last estimate of files in this workspace, so that "refresh" works after the window is reloaded. */
export class RememberedRequest {
  constructor(private readonly memento: Memento) {}

  get value(): EstimateRequest | undefined {
    const value: unknown = this.memento.get(key);
    return isRequest(value) ? value : undefined;
  }

  /** Text in memory is not remembered, nor what would have to be asked for. */
  set value(request: EstimateRequest | undefined) {
    if (request === undefined || request.source !== undefined || request.renew !== undefined) return;
    const { label, roots, leftOut = [] } = request;
    const few = leftOut.length > 0 && leftOut.length <= mostLeftOut;
    inBackground(this.memento.update(key, { label, roots, ...(few && { leftOut }) }));
  }
}

function isRequest(value: unknown): value is EstimateRequest {
  return (
    typeof value === "object" &&
    value !== null &&
    "label" in value &&
    typeof value.label === "string" &&
    "roots" in value &&
    areStrings(value.roots) &&
    (!("leftOut" in value) || areStrings(value.leftOut))
  );
}

function areStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
