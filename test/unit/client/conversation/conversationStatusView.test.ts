import { describe, expect, it } from "vitest";
import { conversationStatus } from "../../../../src/client/conversation/conversationStatusView";
import { noConversation } from "../../../../src/core/conversation/shownConversation";
import { formatText } from "../../../../src/core/format";
import { conversationOfLog } from "../../../support/sampleConversation";

const now = Date.UTC(2026, 10, 26, 12, 31);
const say = (shown: ReturnType<typeof conversationOfLog>, at = now) => {
  const status = conversationStatus(shown, at);
  return (
    status && [
      formatText(status.short),
      status.long.map((text) => formatText(text)).join(" "),
      status.severity,
    ]
  );
};

describe("a conversation in the status bar", () => {
  it("says how full it is and how many turns are left", () => {
    expect(say(conversationOfLog("two-agents-no-cache-ram"))).toEqual([
      "1,859 / 8,192 · 28 turns left",
      "Turn 3: 1,859 of 8,192. About 28 more turns of this size until it is refused.",
      "good",
    ]);
  });

  it("warns where the last request was refused", () => {
    const [short, long, severity] = say(conversationOfLog("three-turns", "task 43 | stop processing")) ?? [];
    expect(short).toBe("3,672 / 4,096 tokens");
    expect(long).toBe(
      "The last request was refused: 4,485 tokens, and the context holds 4,096. Turn 2: 3,672 of 4,096.",
    );
    expect(severity).toBe("care");
  });

  it("is gone where there is none, and an hour after the last one", () => {
    expect(say(noConversation)).toBeUndefined();
    expect(say(conversationOfLog("three-turns"), now + 3_600_000)).toBeUndefined();
  });
});
