import { say, seconds } from "../text";
import type { Text } from "../text";
import type { ProbeProgress } from "./probeReport";

/** How far a measurement is, in words. */
export function measurementProgressText({ phase, remainingSeconds }: ProbeProgress): Text {
  switch (phase) {
    case "preparing":
    case "feasibility":
      return say`Reading the first tokens to see what it costs; at most ${seconds(remainingSeconds)} in all.`;
    case "measuring":
      return say`${seconds(remainingSeconds)} to go.`;
    case "closing":
      return say`Checking that nothing has changed meanwhile.`;
  }
}
