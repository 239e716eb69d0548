import { defineConfig } from "vitest/config";
import { StageReporter } from "../scripts/vitestReport.mjs";

export default defineConfig({
  test: {
    reporters: ["default", new StageReporter()],
    include: ["unit/**/*.test.ts"],
    testTimeout: 30_000,
    expect: { poll: { timeout: 15_000 } },
  },
});
