import { defineConfig } from "vitest/config";
import { StageReporter } from "../scripts/vitestReport.mjs";

// one file at a time: they start servers and measure them
export default defineConfig({
  test: {
    reporters: ["default", new StageReporter()],
    include: ["integration/**/*.test.ts"],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
