import { readFile } from "node:fs/promises";
import path from "node:path";
import type axe from "axe-core";
import type { Page } from "playwright-core";
import { repository } from "../../support/repository";

const wcag = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
let checker: Promise<string> | undefined;

/** What axe-core has against a part of the page by WCAG 2.2 A and AA, or by these rules of it: rule, element and why. */
export async function violations(
  page: Page,
  part = ":root",
  rules: readonly string[] = wcag,
): Promise<readonly string[]> {
  checker ??= readFile(path.join(repository, "node_modules/axe-core/axe.min.js"), "utf8");
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(await checker);
  const results = await page.evaluate(
    ([its, only]) =>
      (globalThis as unknown as { axe: typeof axe }).axe.run(its, {
        runOnly: [...only],
        resultTypes: ["violations"],
      }),
    [part, rules] as const,
  );
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary ?? ""}`),
  );
}
