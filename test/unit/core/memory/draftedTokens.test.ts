import { expect, it } from "vitest";
import { parseArguments } from "../../../../src/core/launch/commandLine";
import { draftedTokens } from "../../../../src/core/memory/draftedTokens";

// `n_outputs_max` − 1 in the log of llama-server b11669 with these arguments, one slot
it.each([
  ["", 0],
  ["--spec-type none", 0],
  ["--spec-type ngram-simple", 48],
  ["--spec-type ngram-map-k", 48],
  ["--spec-type ngram-map-k4v", 48],
  ["--spec-type ngram-mod", 64],
  ["--spec-type ngram-cache", 8],
  ["--spec-type ngram-simple --spec-ngram-simple-size-m 10", 10],
  ["--spec-type ngram-mod --spec-ngram-mod-n-max 20 --spec-ngram-mod-n-min 5", 20],
  ["--spec-type ngram-simple,ngram-cache", 48],
  ["--spec-type ngram-simple --spec-draft-n-max 5", 48],
  ["--spec-type ngram-cache --spec-draft-n-max 20", 8],
])("%s drafts %i tokens at once", (line, tokens) => {
  const { options } = parseArguments(line.split(" ").filter((word) => word !== ""));
  expect(draftedTokens(options)).toBe(tokens);
});
