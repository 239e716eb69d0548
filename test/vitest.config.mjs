import os from "node:os";
import { defineConfig } from "vitest/config";
import { StageReporter } from "../scripts/vitestReport.mjs";

export default defineConfig({
  test: {
    reporters: ["default", new StageReporter()],
    // some of them wait
    maxWorkers: os.availableParallelism(),
    include: ["unit/**/*.test.ts"],
    testTimeout: 30_000,
    expect: { poll: { timeout: 15_000 } },
  },
});
