import { expect, it } from "vitest";
import { formatText } from "../../../../src/core/format";
import { launchDifferences } from "../../../../src/core/servers/launchDifferences";
import type { LaunchOptions } from "../../../../src/core/launch/launchOptions";

const facts = {
  url: "http://127.0.0.1:9931",
  build: "b11669-Debian",
  role: "single",
  model: { id: "m", nCtxTrain: 131_072 },
  nCtxPerSlot: 40_960,
  totalSlots: 4,
  sleeping: false,
  hasVision: false,
} as const;
const said = (given: LaunchOptions): string[] =>
  launchDifferences(facts, given).map((text) => formatText(text));

it.each<[string, LaunchOptions, string[]]>([
  ["nothing where both agree", { ctxSize: 40_960 }, []],
  [
    "that -fit reduced a context nobody set",
    {},
    ["-fit reduced the context from 131,072 to 40,960 tokens because more does not fit into memory."],
  ],
  [
    "the two figures where -fit had no say",
    { ctxSize: 65_536, parallel: 1 },
    [
      "The command line sets 1 slot, the server has 4.",
      "The command line gives a request 65,536 tokens, the server 40,960.",
    ],
  ],
])("says %s", (_, given, sentences) => {
  expect(said(given)).toEqual(sentences);
});
