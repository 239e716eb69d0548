import type { ServedModel } from "../../core/acceptance/serverReplies";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";

/** The router's model that is meant: the one asked for, else the only one that is loaded. Fails where none is ready. */
export function modelOfRouter(
  url: string,
  models: readonly ServedModel[],
  wanted: string | undefined,
): ServedModel {
  const model = wanted === undefined ? onlyLoaded(url, models) : named(url, models, wanted);
  switch (model.status) {
    case "loaded":
    case "sleeping":
      return model;
    case "loading":
    case "downloading":
      throw new UserError(
        "loading",
        say`The router at ${url} is still loading ${model.id}.`,
        say`Try again when it has loaded.`,
      );
    default:
      throw new UserError(
        "loading",
        model.failed
          ? say`The router at ${url} could not load ${model.id}.`
          : say`The router at ${url} has not loaded ${model.id}, and Llama Gauge does not load models without being asked.`,
        model.failed
          ? say`Check the router's log for the cause.`
          : say`Load it there (any request to it does that), then estimate again.`,
      );
  }
}

function named(url: string, models: readonly ServedModel[], wanted: string): ServedModel {
  const model =
    models.find(({ id }) => id === wanted) ?? models.find(({ aliases }) => aliases.includes(wanted));
  if (model !== undefined) return model;
  throw new UserError(
    "invalidInput",
    say`The router at ${url} has no model named ${wanted}.`,
    say`Choose one of: ${listOf(models)}.`,
  );
}

function onlyLoaded(url: string, models: readonly ServedModel[]): ServedModel {
  const ready = models.filter(({ status }) => status === "loaded" || status === "sleeping");
  const [only, second] = ready;
  if (only !== undefined && second === undefined) return only;
  throw new UserError(
    "invalidInput",
    only === undefined
      ? say`The router at ${url} has no model loaded, so there is nothing to ask yet.`
      : say`The router at ${url} has several models loaded.`,
    say`Choose the intended model: ${listOf(only === undefined ? models : ready)}.`,
  );
}

function listOf(models: readonly ServedModel[]): string {
  const shown = models.slice(0, 10).map(({ id }) => id);
  return shown.join(", ") + (models.length > shown.length ? ", …" : "");
}
