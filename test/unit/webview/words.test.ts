import { describe, expect, it } from "vitest";
import { count, say } from "../../../src/core/text";
import { leadAndRest, wordsOf } from "../../../src/webview/view/words";

const japanese = {
  locale: "ja",
  trusted: true,
  translations: { "Fits. {0}{1}": "収まります。{0}{1}", "{0} of {1} token[s]": "{1} トークン中 {0}" },
};
const english = { locale: "en", trusted: true, translations: {} };
const sentence = say`Fits. ${say`${count(19_440)} of ${count(32_512)} token[s]`}${say``}`;

describe("the page's words", () => {
  it("put nested sentences into the reader's language", () => {
    expect(wordsOf(english)(sentence)).toBe("Fits. 19,440 of 32,512 tokens");
    expect(wordsOf(japanese)(sentence)).toBe("収まります。32,512 トークン中 19,440");
  });

  it("cut a sentence before its first figure", () => {
    expect(leadAndRest(sentence, english)).toEqual(["Fits. ", "19,440 of 32,512 tokens"]);
    expect(leadAndRest(sentence, japanese)).toEqual(["収まります。", "32,512 トークン中 19,440"]);
    expect(leadAndRest(say`${count(3)} token[s]`, english)).toEqual(["", "3 tokens"]);
    expect(leadAndRest(say`Nothing.`, english)).toEqual(["", "Nothing."]);
  });
});
