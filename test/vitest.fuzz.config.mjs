import { defineConfig } from "vitest/config";
import { StageReporter } from "../scripts/vitestReport.mjs";

export default defineConfig({
  test: { reporters: ["default", new StageReporter()], include: ["fuzz/**/*.test.ts"] },
});
