import { describe, expect, it } from "vitest";
import { localModelPath } from "../../../../src/core/servers/localModelPath";

describe("the path that a server names for its model", () => {
  const here = "http://127.0.0.1:9931";
  it.each([
    [here, "/models/a.gguf", true],
    [here, "C:\\models\\a.gguf", true],
    ["http://localhost:9931", "d:/models/a.gguf", true],
    ["http://192.168.1.5:9931", "/models/a.gguf", false],
    ["http://127.evil.example:9931", "/models/a.gguf", false],
    [here, "\\\\evil.example\\share\\a.gguf", false],
    [here, "//evil.example/share/a.gguf", false],
    [here, "/\\evil.example\\share\\a.gguf", false],
    [here, "\\\\?\\UNC\\evil.example\\share\\a.gguf", false],
    // relative to the server's folder, not to ours
    [here, "a.gguf", false],
    [here, "", false],
  ])("%s: %s is opened: %s", (url, path, opened) => {
    expect(localModelPath({ url, model: { id: "m", path } })).toBe(opened ? path : undefined);
  });
});
