import { describe, expect, it } from "vitest";
import { assumedTokenizer } from "../../../../src/core/tokens/estimateTokens";

const code = `export function middle(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
`;

/** Counts of llama.cpp 0.7.0 (llama_tokenize) with the vocabularies of Qwen2.5, Gemma 3 and gpt-oss, in this order. */
const counted: readonly (readonly [name: string, text: string, counts: readonly number[]])[] = [
  ["code", code, [44, 54, 44]],
  [
    "prose",
    "A configured context is a ceiling, not a promise: what one request may really hold is what the running server says, less the room its answer needs.",
    [31, 31, 31],
  ],
  [
    "JSON",
    '{\n  "name": "sample",\n  "version": "1.4.2",\n  "dependencies": {\n    "left-pad": "^1.3.0",\n    "semver": "7.6.3"\n  }\n}\n',
    [51, 60, 51],
  ],
  ["Chinese", "在把整个文件夹发送给本地模型之前，请先确认它是否装得下，以及需要等待多长时间。", [25, 25, 26]],
  [
    "Japanese",
    "フォルダをローカルモデルに送る前に、それが収まるか、どれだけ待つのかを確かめてください。",
    [30, 25, 34],
  ],
  [
    "Russian",
    "Прежде чем отправить папку локальной модели, узнайте, поместится ли она и сколько придётся ждать.",
    [31, 24, 26],
  ],
  ["Arabic", "قبل إرسال المجلد إلى النموذج المحلي تحقق من أنه يتسع له وكم ستنتظر.", [25, 21, 22]],
  [
    "base64",
    "bjQLnP+zepicpUTmu3gKLHiQHT+zNzh2hRGjBhevoB1L9RIvNEVUxTveLruM0rfj0WAK1jHDhaXXzOI8d4VFmtvBtMkA/+SNV1tdpcY4BAEl9l2w/j4kSUt26phkV9mGCE/tCLl4r019GWp0RqhrWACeY2thHbFiEbZamq3/KcXlLZxQjFAjRzRNjAetkcvWBor8df9ikvBioJyjgcieced7mprp4wsNvbb1EKJk753ngVAde2uSronrBZxat0PbZ1humPrSfaC5lovAOaHvNMk5ubjlI6i++J1HhgjF7PbKNYdY9tJ+bPRScpN5d6dI/Yg5HbZ5ztp9x78fAF7oeQ==",
    [250, 240, 234],
  ],
];

/** Half-width for one file, as the weights were fitted: 95 % lie within it. */
const fileError = 0.4;

const never = new AbortController().signal;
const estimateOf = async (text: string): Promise<number> =>
  (await assumedTokenizer().count([text], never))[0]?.tokens ?? Number.NaN;

describe("an estimate of tokens", () => {
  it.each(counted)("is within its stated error of llama.cpp for %s", async (_, text, counts) => {
    const estimate = await estimateOf(text);
    for (const tokens of counts) {
      expect(Math.abs(estimate / tokens - 1)).toBeLessThan(fileError);
    }
  });

  it("counts nothing in nothing and at least one token in anything", async () => {
    expect(await estimateOf("")).toBe(0);
    expect(await estimateOf(" ")).toBe(1);
  });

  it("grows linearly over slices: a long text costs what its parts cost", async () => {
    const parts = 40_000;
    const long = code.repeat(parts);
    expect((await estimateOf(long)) / parts / (await estimateOf(code))).toBeCloseTo(1, 1);
  });
});

describe("assumedTokenizer", () => {
  it("says that it assumes, and by how much it may be off", () => {
    expect(assumedTokenizer().identity).toMatchObject({ source: "assumed", relativeError: 0.25 });
  });

  it("stops inside a long text when cancelled", async () => {
    const controller = new AbortController();
    controller.abort(new Error("cancelled"));
    await expect(assumedTokenizer().count([code], controller.signal)).rejects.toThrow("cancelled");
  });
});
