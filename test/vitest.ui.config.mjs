import { defineConfig } from "vitest/config";
import { StageReporter } from "../scripts/vitestReport.mjs";

// one window at a time; the packaged extension is made once for all files
export default defineConfig({
  test: {
    reporters: ["default", new StageReporter()],
    include: ["ui/**/*.test.ts"],
    globalSetup: "ui/support/packageOnce.ts",
    fileParallelism: false,
    // a whole editor in a browser: once more before it counts as broken
    retry: 1,
    testTimeout: 90_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 15_000 } },
  },
});
