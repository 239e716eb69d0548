import type { Settings } from "../../src/app/settings";
import { parseSettings } from "../../src/client/editor/settings";

/** The settings of somebody who has set nothing else. */
export const sampleSettings = (changes: Partial<Settings> = {}): Settings => ({
  ...parseSettings(() => undefined).settings,
  ...changes,
});
