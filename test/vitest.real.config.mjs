import { defineConfig } from "vitest/config";
import { StageReporter } from "../scripts/vitestReport.mjs";

// real models on a real server: one file at a time
export default defineConfig({
  test: {
    reporters: ["default", new StageReporter()],
    include: ["real/**/*.test.ts"],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
