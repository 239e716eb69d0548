import { describe, expect, it } from "vitest";
import { formatText } from "../../../src/core/format";
import { maskSecrets } from "../../../src/core/launch/maskSecrets";
import { say } from "../../../src/core/text";
import { UserError } from "../../../src/core/userError";
import { withoutSecrets } from "../../../src/core/withoutSecrets";
import { growth } from "../../support/growth";

describe("an address in a text", () => {
  it.each([
    ["https://huggingface.co/a/b/resolve/main/c.gguf", "https://huggingface.co/a/b/resolve/main/c.gguf"],
    ["https://me:hunter2@host:8080/a.gguf", "https://…@host:8080/a.gguf"],
    ["see http://me:p@ss@host/a?sig=abc#f, or", "see http://…@host/a?… or"],
    ["https://host/a.gguf?token=abc", "https://host/a.gguf?…"],
    ["https://host/a.gguf#token=abc", "https://host/a.gguf#…"],
    ["https://host/a@b/c", "https://host/a@b/c"],
    ["(hf://token@models)", "(hf://…@models)"],
    ["http://127.0.0.1:9931?", "http://127.0.0.1:9931?"],
    ["C:\\a?b", "C:\\a?b"],
    ["what? a@b.c", "what? a@b.c"],
  ])("%s", (text, shown) => expect(withoutSecrets(text)).toBe(shown));

  it("of any length takes its time only once", () => {
    const long = (size: number): string => "https://a@".repeat(size) + "a".repeat(size) + "://".repeat(size);
    expect(growth(long, withoutSecrets, 50_000)).toBeLessThan(3);
  });

  it("is harmless in sentences, errors and command lines", () => {
    const address = "https://me:hunter2@host/a.gguf?token=abc";
    const sentence = say`There is no model at ${address}.`;
    expect(JSON.stringify(sentence)).not.toMatch(/hunter2|abc/);
    expect(formatText(sentence)).toBe("There is no model at https://…@host/a.gguf?….");
    expect(new UserError("notFound", sentence, say`Check ${address}.`).message).not.toMatch(/hunter2|abc/);
    expect(maskSecrets(["--model-url", address, "-m", "a.gguf"])).toEqual([
      ...["--model-url", "https://…@host/a.gguf?…", "-m", "a.gguf"],
    ]);
  });
});
