import assert from "node:assert/strict";
import { activated, configure, diagnostic } from "./support";

describe("settings in VS Code", () => {
  before(activated);
  afterEach(() =>
    configure({ answerReserveTokens: undefined, "server.url": undefined, packTemplate: undefined }),
  );

  it("are taken over when they change", async () => {
    await configure({ answerReserveTokens: 77, "server.url": "127.0.0.1:1/", packTemplate: "xml" });
    const settings = (await diagnostic("Settings")) as Readonly<Record<string, unknown>>;
    assert.equal(settings["answerReserveTokens"], 77);
    assert.equal(settings["serverUrl"], "http://127.0.0.1:1");
    assert.equal(settings["packTemplate"], "xml");
    assert.deepEqual(await diagnostic("Unusable settings"), []);
  });

  it("fall back to the default where they cannot be used, and say so", async () => {
    await configure({ answerReserveTokens: -5, "server.url": "ftp://x", packTemplate: "yaml" });
    const settings = (await diagnostic("Settings")) as Readonly<Record<string, unknown>>;
    assert.equal(settings["answerReserveTokens"], 2048);
    assert.equal(settings["serverUrl"], "");
    assert.equal(settings["packTemplate"], "markdown");
    assert.deepEqual(await diagnostic("Unusable settings"), [
      { setting: "llamaGauge.server.url", value: "ftp://x" },
      { setting: "llamaGauge.answerReserveTokens", value: -5 },
      { setting: "llamaGauge.packTemplate", value: "yaml" },
    ]);
  });
});
