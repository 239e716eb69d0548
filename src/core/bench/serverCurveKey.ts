import type { ServerFacts } from "../acceptance/serverFacts";
import type { LaunchOptions } from "../launch/launchOptions";
import type { CurveKey } from "../prefill/depthCurve";
import { withoutSecrets } from "../withoutSecrets";
import { speedFlags } from "../llamaBench/benchArguments";

/** What is measured of a server is kept under this. */
export const serverCurveKey = (
  { model, build }: Pick<ServerFacts, "model" | "build">,
  launch: LaunchOptions,
): CurveKey => ({
  model: withoutSecrets(model.path ?? model.id),
  build: build ?? "",
  flags: speedFlags(launch),
});
