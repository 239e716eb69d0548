import { describe, expect, it } from "vitest";
import { statusView, tooltipCommands } from "../../../../src/client/statusBar/statusView";
import { shownText, type Shown } from "../../../../src/core/shown";
import { known } from "../../../../src/core/known";
import type { GaugeReport } from "../../../../src/core/report/gaugeReport";
import { say, type Text } from "../../../../src/core/text";
import {
  everythingKnown,
  nothingKnown,
  sampleReport,
  slow,
  tight,
  tooLong,
  twoDevices,
} from "../../../support/sampleReports";

const write = (text: Text): Shown => shownText(text, { locale: "en", translate: (template) => template });

const ready = (report: GaugeReport, stale = false): ReturnType<typeof statusView> =>
  statusView({ status: "ready", report, stale }, write, "en");

describe("the status bar", () => {
  it("shows the prompt against the context of one request", () => {
    expect(ready(sampleReport()).text).toBe("$(dashboard) 19,440 / 32,512 tokens");
    expect(ready(sampleReport(), true).text).toBe("$(dashboard) 19,440 / 32,512 tokens (stale)");
  });

  it("says that an estimate is one, and leaves out what nobody knows", () => {
    expect(ready(nothingKnown()).text).toBe("$(dashboard) ≈ 19,440 tokens");
  });

  it("shows KV and the tightest device where memory is known", () => {
    // CUDA1 has 1.9 GiB left, CUDA0 10.5 GiB; 19,440 of 65,536 cells of 1.25 GiB are 0.37 GiB;
    // from 3.19 ms a token at 4,096 to 7.63 ms at 36,864 it is 2.63 ms × 19,440 + 135.5 ns × 19,440² / 2 = 77 s
    expect(ready(everythingKnown()).text).toBe(
      "$(dashboard) 19,440 / 32,512 tokens · KV 0.4/1.3 GiB · CUDA1 9.2/11.1 GiB · 77 s",
    );
    const [gpu, , host] = twoDevices.devices;
    const one = { ...twoDevices, devices: gpu && host ? [gpu, host] : [] };
    expect(ready(sampleReport({ memory: known(one) })).text).toMatch(/ · VRAM 12\.7\/23\.2 GiB$/);
  });

  it("shows the budget alone where there is nothing to send", () => {
    const { tokens } = sampleReport();
    const report = sampleReport({
      scope: { label: "no files", roots: [] },
      tokens: { ...tokens, files: [], tokens: 0 },
      memory: known({
        ...twoDevices,
        tightest: { device: "CUDA1", shortBytes: 0, text: say`CUDA1 is the tightest device.` },
      }),
    });
    expect(ready(report).text).toBe("$(dashboard) KV 1.3 GiB · CUDA1 9.2/11.1 GiB · 64K");
    expect(ready(report).tooltip).toContain("CUDA1 is the tightest device");
  });

  it("tells the tokens of the active editor in the tooltip, its name as plain text", () => {
    const editor = { name: "src/[a](command:x).ts", tokens: 1234 };
    const state = { status: "ready", report: sampleReport(), stale: false } as const;
    const { tooltip, text } = statusView(state, write, "en", { editor });
    expect(tooltip).toContain(String.raw`In the editor: src/\[a\]⁠(command:x).ts, 1,234 tokens`);
    expect(text).toBe(ready(sampleReport()).text);
    expect(ready(sampleReport()).tooltip).not.toContain("In the editor");
  });

  it("shows what was measured, when, and what the server's process holds of it", () => {
    const GiB = 2 ** 30;
    const live = {
      at: Date.UTC(2026, 0, 2, 12, 0, 5),
      devices: [{ name: "ROCm0", totalBytes: 16 * GiB, freeBytes: 4 * GiB }],
      host: { name: "Host", totalBytes: 64 * GiB, freeBytes: 40 * GiB },
      server: { pid: 7, residentBytes: 3 * GiB, devices: [{ name: "ROCm0", bytes: 10 * GiB }] },
    };
    const state = { status: "ready", report: everythingKnown(), stale: false } as const;
    const { tooltip } = statusView(state, write, "en", { live });
    expect(tooltip).toMatch(/\| Measured at .*:00:05.* \| Used \| Free \| llama-server \|/);
    expect(tooltip).toContain("| ROCm0 | 12.0 GiB | 4.0 GiB | 10.0 GiB |");
    expect(tooltip).toContain("| Host | 24.0 GiB | 40.0 GiB | 3.0 GiB |");
    const without = { at: live.at, devices: live.devices, host: live.host };
    expect(statusView(state, write, "en", { live: without }).tooltip).toContain("| 4.0 GiB | – |");
    expect(ready(everythingKnown()).tooltip).not.toContain("Measured");
  });

  it.each([
    ["what fails", tooLong, "bad", "$(error)"],
    ["what is tight", tight, "care", "$(warning)"],
    ["what takes long", slow, "care", "$(warning)"],
    ["what fits", everythingKnown, "good", "$(dashboard)"],
    ["what is not known", nothingKnown, "open", "$(dashboard)"],
  ] as const)("colours %s as the panel does", (_, report, severity, icon) => {
    expect(ready(report())).toMatchObject({ severity, text: expect.stringContaining(icon) as string });
  });

  it("speaks the verdict to a screen reader", () => {
    expect(ready(sampleReport()).accessibleLabel).toBe("Llama Gauge: Fits. 19,440 of 32,512 tokens");
  });

  it("spins while counting and keeps an error calm", () => {
    const progress = { stage: "counting", filesDone: 2, filesFound: 4, tokens: 1234 } as const;
    expect(statusView({ status: "counting", progress }, write, "en").text).toBe(
      "$(loading~spin) 1,234 tokens in 2 files …",
    );
    const failure = { problem: say`No answer.`, remedy: say`Start it.` };
    expect(statusView({ status: "failed", failure }, write, "en")).toMatchObject({
      text: "$(error) Llama Gauge",
      severity: "open",
    });
  });

  it("links only to commands it may run", () => {
    const tooltips = [
      ready(everythingKnown()),
      ready(nothingKnown()),
      statusView({ status: "idle" }, write, "en"),
    ];
    for (const { tooltip } of tooltips) {
      const linked = Array.from(tooltip.matchAll(/\(command:([^)]+)\)/g), (match) => match[1]);
      expect(linked.length).toBeGreaterThan(0);
      expect(linked.filter((command) => !tooltipCommands.some((allowed) => allowed === command))).toEqual([]);
    }
  });

  it("shows hostile names as text", () => {
    const label = "[click](command:workbench.action.quit) <img src=x> |\n$(bug)";
    const { tooltip } = ready(sampleReport({ scope: { label, roots: [] } }));
    expect(tooltip).not.toMatch(/\[click\]\(command/);
    expect(tooltip).not.toMatch(/(?<!\\)<img/);
    expect(tooltip).not.toMatch(/(?<!\\)\$\(bug/);
    expect(tooltip.split("\n").filter((line) => line.includes("click"))).toHaveLength(1);
  });
});
