import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parseSettings, serverUrl, settingDefaults } from "../../../../src/client/editor/settings";
import { repository } from "../../../support/repository";

interface Section {
  readonly properties: Readonly<Record<string, { readonly default: unknown; readonly scope: string }>>;
}

const manifest = JSON.parse(readFileSync(path.join(repository, "package.json"), "utf8")) as {
  readonly contributes: { readonly configuration: readonly Section[] };
  readonly capabilities: {
    readonly untrustedWorkspaces: { readonly restrictedConfigurations: readonly string[] };
  };
};
const declared = Object.assign(
  {},
  ...manifest.contributes.configuration.map((section) => section.properties),
) as Section["properties"];

function parse(values: Readonly<Record<string, unknown>>): ReturnType<typeof parseSettings> {
  return parseSettings((id) => values[id]);
}

describe("settings", () => {
  it("are the manifest's, with the same defaults", () => {
    const defaults = Object.fromEntries(
      Object.entries(settingDefaults).map(([key, value]) => [`llamaGauge.${key}`, value]),
    );
    expect(
      Object.fromEntries(Object.entries(declared).map(([id, { default: value }]) => [id, value])),
    ).toEqual(defaults);
  });

  it("that steer requests, programs and paths are not taken from an untrusted workspace", () => {
    const restricted = manifest.capabilities.untrustedWorkspaces.restrictedConfigurations;
    const steering = Object.keys(declared).filter((id) => /url|model|folder|arguments|\.log$/i.test(id));
    expect(steering.toSorted()).toEqual(restricted.toSorted());
    for (const id of steering) expect(declared[id]?.scope).toMatch(/^machine/);
  });

  it("use the defaults where nothing is set", () => {
    const { settings, problems } = parse({});
    expect(problems).toEqual([]);
    expect(settings).toMatchObject({ serverUrl: "", model: "", answerReserveTokens: 2048, filesExclude: [] });
    expect(Object.isFrozen(settings)).toBe(true);
  });

  it("take usable values, trimmed", () => {
    const { settings, problems } = parse({
      "llamaGauge.server.url": " 127.0.0.1:8080/ ",
      "llamaGauge.model": " /models/a.gguf ",
      "llamaGauge.exclude": ["**/*.lock", " ", " dist/** "],
      "llamaGauge.answerReserveTokens": 0,
      "files.exclude": { "**/.git": true, "**/.svn": false, "**/*.js": { when: "$(basename).ts" } },
    });
    expect(problems).toEqual([]);
    expect(settings).toMatchObject({
      serverUrl: "http://127.0.0.1:8080",
      model: "/models/a.gguf",
      exclude: ["**/*.lock", "dist/**"],
      answerReserveTokens: 0,
      filesExclude: ["**/.git"],
    });
  });

  it.each([
    ["llamaGauge.server.url", "file:///etc/passwd"],
    ["llamaGauge.server.url", "http://user:secret@host:80"],
    ["llamaGauge.server.url", "http://"],
    ["llamaGauge.server.url", 8080],
    ["llamaGauge.model", ["a"]],
    ["llamaGauge.modelFolders", "/models"],
    ["llamaGauge.modelFolders", [1]],
    ["llamaGauge.patienceSeconds", -1],
    ["llamaGauge.patienceSeconds", 86_401],
    ["llamaGauge.answerReserveTokens", -1],
    ["llamaGauge.answerReserveTokens", 1.5],
    ["llamaGauge.answerReserveTokens", "2048"],
    ["llamaGauge.maxFileBytes", 0],
    ["llamaGauge.maxFiles", Number.POSITIVE_INFINITY],
    ["llamaGauge.useIgnoreFiles", "yes"],
  ])("names %s where its value cannot be used: %j", (setting, value) => {
    const { settings, problems } = parse({ [setting]: value });
    expect(problems).toEqual([{ setting, value }]);
    expect(settings).toEqual(parse({}).settings);
  });
});

describe("serverUrl", () => {
  it.each([
    ["localhost:9931", "http://localhost:9931"],
    ["https://gpu.example/llama/", "https://gpu.example/llama"],
    ["[::1]:8080", "http://[::1]:8080"],
    ["", ""],
  ])("completes %j", (typed, url) => {
    expect(serverUrl(typed)).toBe(url);
  });
});
