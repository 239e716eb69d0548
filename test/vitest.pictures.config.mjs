import { defineConfig } from "vitest/config";

// pictures and figures for people, made by the same means as the UI tests; no part of `npm test`
export default defineConfig({
  test: {
    include: ["pictures/**/*.pictures.ts", "figures/**/*.figures.ts"],
    globalSetup: "ui/support/packageOnce.ts",
    fileParallelism: false,
    testTimeout: 900_000,
    hookTimeout: 180_000,
  },
});
