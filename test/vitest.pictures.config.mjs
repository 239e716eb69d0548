import { defineConfig } from "vitest/config";

// pictures for people, made by the same means as the UI tests; no part of `npm test`
export default defineConfig({
  test: {
    include: ["pictures/**/*.pictures.ts"],
    globalSetup: "ui/support/packageOnce.ts",
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 180_000,
  },
});
