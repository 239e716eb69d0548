import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { chooseTokenizer, type TokenizerSources } from "../../../src/app/tokenizerChoice";
import type { ConnectedServer } from "../../../src/core/report/situation";
import { say } from "../../../src/core/text";
import { UserError } from "../../../src/core/userError";
import { HttpLlamaServer } from "../../../src/node/llamaServer/llamaServer";
import type { GgufTokenizer } from "../../../src/node/tokenizer/ggufTokenizer";
import { goodAnswer, goodReplies, sendJson, startHttpStub, type StubServer } from "../../support/stubServer";

const { signal } = new AbortController();
let folder: string;
let served: string;
let named: string;
let stub: StubServer | undefined;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-choice-"));
  [served, named] = [path.join(folder, "served.gguf"), path.join(folder, "named.gguf")];
  for (const file of [served, named]) await writeFile(file, "");
});
afterEach(async () => {
  await stub?.close();
  stub = undefined;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A server that makes one token of everything, with its model's file at `file`. */
async function server(file: string, sleeping = false): Promise<ConnectedServer> {
  stub = await startHttpStub(
    goodAnswer({
      "/props": (_, response) =>
        sendJson(response, { ...goodReplies["/props"], model_path: file, is_sleeping: sleeping }),
      "/tokenize": (_, response) => sendJson(response, { tokens: [7] }),
    }),
  );
  const connected = new HttpLlamaServer({ url: stub.url });
  return { server: connected, facts: await connected.facts(signal) };
}

/** Vocabularies that make one token of everything, and which were opened. */
function vocabularies(
  token: number,
): Pick<TokenizerSources, "openVocabulary"> & { readonly opened: string[] } {
  const opened: string[] = [];
  const tokenizer: GgufTokenizer = {
    identity: { source: "gguf", model: "served" },
    fingerprint: "vocabulary",
    ends: { bos: "", eos: "", addBos: false, addEos: false },
    encode: () => Promise.resolve(Int32Array.of(token)),
    count: (texts) => Promise.resolve(texts.map(() => ({ tokens: 1 }))),
    countPrompt: () => Promise.resolve(1),
    countPromptPieces: () => Promise.resolve(1),
    countFiles: () => Promise.reject(new Error("not asked")),
    close: () => Promise.resolve(),
  };
  return {
    opened,
    openVocabulary: (file) => {
      opened.push(file);
      return Promise.resolve(tokenizer);
    },
  };
}

const noVocabulary = (): Promise<never> =>
  Promise.reject(new UserError("invalidInput", say`No vocabulary.`, say`Choose another.`));

describe("what counts", () => {
  it("beside a server that agrees: the vocabulary of its file, opened once", async () => {
    const { openVocabulary, opened } = vocabularies(7);
    const connected = await server(served);
    const { tokenizer } = await chooseTokenizer(
      { server: connected, modelFile: named, openVocabulary },
      signal,
    );
    expect(tokenizer.identity).toMatchObject({ source: "gguf", checkedWith: connected.facts.url });
    expect(opened).toEqual([served]);
  });

  it("beside a server whose file is elsewhere: the chosen one's, where that agrees", async () => {
    const { openVocabulary, opened } = vocabularies(7);
    const connected = await server("/elsewhere/served.gguf");
    const { tokenizer } = await chooseTokenizer(
      { server: connected, modelFile: named, openVocabulary },
      signal,
    );
    expect(tokenizer.identity).toMatchObject({ source: "gguf", checkedWith: connected.facts.url });
    expect(opened).toEqual([named]);
  });

  it.each([
    ["it does not agree", vocabularies(8).openVocabulary, true],
    ["it cannot be read", noVocabulary, true],
    ["there is none", noVocabulary, false],
  ])("the server where %s, under a fingerprint of its own", async (_, openVocabulary, there) => {
    const connected = await server(there ? served : "/elsewhere/served.gguf");
    const { tokenizer } = await chooseTokenizer(
      { server: connected, modelFile: undefined, openVocabulary },
      signal,
    );
    expect(tokenizer.identity.source).toBe("server");
    expect(tokenizer.fingerprint).toMatch(/^[0-9a-f]{32}$/);
  });

  it("beside a server that sleeps: the vocabulary, unchecked, for asking would wake it", async () => {
    const { openVocabulary, opened } = vocabularies(8);
    const connected = await server(served, true);
    const { tokenizer } = await chooseTokenizer(
      { server: connected, modelFile: served, openVocabulary },
      signal,
    );
    expect(tokenizer.identity).toEqual({ source: "gguf", model: "served" });
    expect(opened).toEqual([served]);
  });

  it("without a server: the vocabulary, else an assumption that says why", async () => {
    const { openVocabulary } = vocabularies(8);
    const of = (modelFile: string | undefined, open: TokenizerSources["openVocabulary"]) =>
      chooseTokenizer({ server: undefined, modelFile, openVocabulary: open }, signal);
    expect((await of(named, openVocabulary)).tokenizer.identity.source).toBe("gguf");
    expect(await of(named, noVocabulary)).toMatchObject({
      tokenizer: { identity: { source: "assumed" } },
      vocabulary: { known: false, why: say`No vocabulary.` },
    });
    expect((await of(undefined, noVocabulary)).vocabulary).toBeUndefined();
  });
});
