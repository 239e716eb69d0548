import { mkdir } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { noSpeed, type SpeedState } from "../../src/core/report/speedState";
import type { GaugeReport } from "../../src/core/report/gaugeReport";
import { planned } from "../../src/client/conversation/conversationPart";
import { noConversation, type ShownConversation } from "../../src/core/conversation/shownConversation";
import { say } from "../../src/core/text";
import { conversationOfLog } from "../support/sampleConversation";
import { sampleReport } from "../support/sampleReports";
import {
  beyondProbe,
  compared,
  disturbedOrigin,
  measuredReport,
  probing,
  reading,
  someRuns,
} from "../support/sampleSpeed";
import { panelPages, type PanelPage } from "./support/panelPage";
import { screenshotFolder } from "./support/workbench";

const open = panelPages();

/** Shows a report with a state of the measurements. */
async function withSpeed(
  report: GaugeReport,
  speed: SpeedState,
  use: (panel: PanelPage) => Promise<void>,
  language: "en" | "ja" = "en",
): Promise<void> {
  const panel = await open({ language });
  await panel.show({ status: "ready", report, stale: false });
  await panel.send({ type: "speed", speed });
  await use(panel);
}

const states: readonly (readonly [name: string, report: () => GaugeReport, speed: SpeedState])[] = [
  ["none", () => sampleReport(), noSpeed],
  ["running", () => sampleReport(), probing],
  ["result", () => measuredReport(), someRuns],
  ["compared", () => measuredReport(), compared],
  ["reading", () => measuredReport(), reading],
  ["beyond", () => beyondProbe(), someRuns],
];

describe("measured speed on the panel's page", () => {
  it.each(["en", "ja"] as const)("draws every state in %s, and at 320 pixels", async (language) => {
    const folder = path.join(screenshotFolder, "panel");
    await mkdir(folder, { recursive: true });
    await withSpeed(
      sampleReport(),
      noSpeed,
      async (panel) => {
        const { page } = panel;
        for (const [name, report, speed] of states) {
          await panel.show({ status: "ready", report: report(), stale: false });
          await panel.send({ type: "speed", speed });
          await page.evaluate(() => {
            for (const list of document.querySelectorAll("#measured details")) list.setAttribute("open", "");
          });
          for (const theme of language === "en" ? (["light", "dark"] as const) : (["light"] as const)) {
            await panel.setTheme(theme);
            const file = `speed-${name}-${theme}-${language}.png`;
            await page.screenshot({ path: path.join(folder, file), fullPage: true });
          }
          await expect
            .poll(() => page.locator("main").innerText())
            .not.toMatch(/\{\d\}|undefined|NaN|\[object/);
          await page.setViewportSize({ width: 320, height: 700 });
          await expect
            .poll(() => page.evaluate(() => document.documentElement.scrollWidth))
            .toBeLessThanOrEqual(320);
          await page.setViewportSize({ width: 1000, height: 900 });
        }
      },
      language,
    );
  });

  it("says the wait in one line, with its band, its probe's depth and age, and the second question", async () => {
    await withSpeed(measuredReport(), someRuns, async ({ page }) => {
      const wait = page.getByRole("region", { name: "Wait" });
      await expect
        .poll(() => wait.locator(".answer").innerText())
        .toMatch(
          /^≈ [\d.]+ (s|min) \([\d.]+ (s|min) – [\d.]+ (s|min)\), probed to 73,728 tokens 3 days ago; then 1\d\.\d t\/s \([\d.]+ t\/s – [\d.]+ t\/s\)$/,
        );
      // recurrent: the checkpoint before the last ubatch is read again
      await wait
        .getByText(/reads 516 tokens again \(recurrent state is kept at checkpoints only\): ≈ /)
        .waitFor();
    });
  });

  it("shows the naive line's time as a table and in words", async () => {
    await withSpeed(measuredReport(), someRuns, async ({ page }) => {
      const wait = page.getByRole("region", { name: "Wait" });
      await wait.getByText(/if the speed of the first tokens lasted, here [\d.]+ (s|min)/).waitFor();
      await wait.getByRole("button", { name: "Table" }).click();
      const rows = wait.getByRole("table", { name: "Time to the first token" }).getByRole("row");
      // 65,536 tokens at the first chunk's 26.1 s per 8,192 tokens
      await expect.poll(() => rows.filter({ hasText: "32,768" }).innerText()).toMatch(/104 s$/);
    });
  });

  it("names who disturbed the measurement, when and how much", async () => {
    await withSpeed(measuredReport(), someRuns, async ({ page }) => {
      const wait = page.getByRole("region", { name: "Wait" });
      await wait.getByText("contaminated", { exact: true }).waitFor();
      await wait.getByText("cargo (4711) and others used 41 % of the CPU from 20 s to 31 s").last().waitFor();
      await wait.getByText("The same first tokens took 3.4 % longer at the end").waitFor();
    });
    const { monitor: _, ...unwatched } = disturbedOrigin;
    await withSpeed(measuredReport(unwatched), someRuns, async ({ page }) => {
      await page.getByRole("region", { name: "Wait" }).getByText("unmonitored", { exact: true }).waitFor();
    });
  });

  it("gives the spans and the history as tables", async () => {
    await withSpeed(measuredReport(), someRuns, async ({ page }) => {
      const measured = page.getByRole("region", { name: "Measured speed" });
      await measured.getByRole("button", { name: "Table" }).click();
      const spans = measured.getByRole("table", { name: "Measured spans of prefill" }).getByRole("row");
      // 26.1 s for 8,192 tokens
      await expect.poll(() => spans.nth(1).innerText()).toMatch(/^0\s+8,192\s+3\.19 ms\s+314 t\/s$/);
      await measured.getByText("History: 2 runs").click();
      const history = measured.getByRole("table", { name: "Measurement history" }).getByRole("row");
      await expect
        .poll(() => history.nth(1).innerText())
        .toMatch(/probe in use.*73,728.*contaminated.*cargo/s);
      await expect.poll(() => history.nth(2).innerText()).toMatch(/baseline “before the update”/);
      await measured.getByText("1 line of the history cannot be read; it is kept.").waitFor();
    });
  });

  it("shows a running probe with its price and what is left, and can stop it", async () => {
    await withSpeed(sampleReport(), probing, async (panel) => {
      const wait = panel.page.getByRole("region", { name: "Wait" });
      const notice = wait.getByRole("status");
      await expect
        .poll(() => notice.innerText())
        .toMatch(/31 s left\.\s+The probe will read 16,384 tokens; about 48 s\./);
      await expect.poll(() => notice.getByRole("progressbar").getAttribute("value")).toBe("0.4");
      await notice.getByText("Stop").click();
      expect((await panel.sent()).at(-1)).toEqual({ type: "command", command: "cancelMeasurement" });
    });
  });

  it("refuses to guess behind twice the probed depth, and offers a deeper probe", async () => {
    await withSpeed(beyondProbe(), someRuns, async (panel) => {
      const wait = panel.page.getByRole("region", { name: "Wait" });
      await wait.getByText(/^Unknown beyond /).waitFor();
      await wait.getByText("Run depth probe").click();
      expect((await panel.sent()).at(-1)).toEqual({ type: "command", command: "runDepthProbe" });
    });
  });
});

describe("the conversation on the panel's page", () => {
  async function withConversation(
    shown: ShownConversation,
    use: (panel: PanelPage) => Promise<void>,
    language: "en" | "ja" = "en",
  ): Promise<void> {
    const panel = await open({ language });
    await panel.show({ status: "ready", report: measuredReport(), stale: false });
    await panel.send({ type: "conversation", conversation: { shown } });
    await use(panel);
  }

  it.each(["en", "ja"] as const)("is drawn in %s, and at 320 pixels", async (language) => {
    const folder = path.join(screenshotFolder, "panel");
    await mkdir(folder, { recursive: true });
    const states: readonly (readonly [string, ShownConversation])[] = [
      ["none", noConversation],
      ["turns", conversationOfLog("chat-plain")],
      ["causes", conversationOfLog("two-agents-no-cache-ram")],
      ["refused", conversationOfLog("three-turns", "task 43 | stop processing")],
      ["agent", conversationOfLog("agent-until-refused", "task 1128 | prompt processing")],
      ["reading", conversationOfLog("long-prompts", "progress = 0.68")],
      [
        "unreadable",
        { ...noConversation, problem: { problem: say`It is gone.`, remedy: say`Bring it back.` } },
      ],
    ];
    await withConversation(
      noConversation,
      async (panel) => {
        const { page } = panel;
        for (const [name, shown] of states) {
          await panel.send({ type: "conversation", conversation: { shown } });
          for (const view of [/Picture|図/, /Table|表/]) {
            const choice = page.locator("#conversation .switch button").filter({ hasText: view });
            if ((await choice.count()) > 0) await choice.click();
            await panel.drawn();
            await expect
              .poll(() => page.locator("#conversation").innerText())
              .not.toMatch(/\{\d\}|undefined|NaN|\[object/);
            const file = `conversation-${name}-${view.source.includes("Table") ? "table" : "picture"}-${language}.png`;
            await page.locator("#conversation").screenshot({ path: path.join(folder, file) });
          }
          await page.setViewportSize({ width: 320, height: 700 });
          await expect
            .poll(() => page.evaluate(() => document.documentElement.scrollWidth))
            .toBeLessThanOrEqual(320);
          await page.setViewportSize({ width: 1000, height: 900 });
        }
      },
      language,
    );
  });

  it("says how full it is, why prompts were read again, and has the log's figures in its table", async () => {
    await withConversation(conversationOfLog("two-agents-no-cache-ram"), async ({ page }) => {
      const card = page.getByRole("region", { name: "Conversation" });
      await expect
        .poll(() => card.locator(".answer").first().innerText())
        .toMatch(/^Turn 3: [\d,]+ of 8,192\./);
      await card.getByText("Another conversation had taken the slot, and no copy was kept.").waitFor();
      await card.getByText(/^4 times, [\d,]+ tokens read again in ≈ /).waitFor();
      await card.getByText(/-np\), or with --cache-ram/).waitFor();
      await card.getByRole("button", { name: "Table" }).click();
      const rows = card.getByRole("table", { name: "Requests" }).getByRole("row");
      await expect.poll(() => rows.count()).toBe(7);
    });
  });

  it("moves with the prompt that is read", async () => {
    await withConversation(conversationOfLog("long-prompts", "progress = 0.68"), async (panel) => {
      const card = panel.page.getByRole("region", { name: "Conversation" });
      const bar = card.getByRole("progressbar");
      await expect.poll(() => bar.getAttribute("value")).toBe("6144");
      const height = (): Promise<number> =>
        card.locator(".request.running rect.part").evaluate((rect) => Number(rect.getAttribute("height")));
      const before = await height();
      const shown = conversationOfLog("long-prompts", "progress = 0.91");
      await panel.send({ type: "conversation", conversation: { shown } });
      await expect.poll(() => bar.getAttribute("value")).toBe("8192");
      expect((await height()) / before).toBeCloseTo(8192 / 6144, 2);
    });
  });

  it("plans what the form says, by keyboard", async () => {
    await withConversation(noConversation, async (panel) => {
      const card = panel.page.getByRole("region", { name: "Conversation" });
      await card.getByText("Plan a conversation").click();
      const turns = card.getByLabel("Turns", { exact: true });
      await turns.fill("3");
      await turns.press("Enter");
      const input = { systemTokens: 12_000, turnTokens: 1800, answerTokens: 600, turns: 3 };
      await expect.poll(async () => (await panel.sent()).at(-1)).toEqual({ type: "planConversation", input });
      await panel.send({
        type: "conversation",
        conversation: { shown: noConversation, plan: planned(input, undefined) },
      });
      await card.getByText(/nothing has been estimated with a known model yet/).waitFor();
      await panel.send({
        type: "conversation",
        conversation: {
          shown: noConversation,
          plan: {
            ...{ known: true, input },
            plan: {
              ...{ nCtxPerSlot: 16_384, refusedAtTurn: 3 },
              turns: [
                {
                  turn: 1,
                  promptTokens: 13_800,
                  cachedTokens: 0,
                  readTokens: 13_800,
                  accepted: true,
                  answerTokens: 600,
                },
              ],
            },
          },
        },
      });
      await card.getByText("Turn 3 is refused: the context holds 16,384.").waitFor();
    });
  });
});
