import { defineConfig } from "vitest/config";
import { StageReporter } from "../scripts/vitestReport.mjs";

// what measures time runs by itself: one file at a time, and `npm test` runs nothing beside it
export default defineConfig({
  test: {
    reporters: ["default", new StageReporter()],
    include: ["measuring/**/*.test.ts"],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
