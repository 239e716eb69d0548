import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { calibrated } from "../../src/node/tokenizer/calibratedTokenizer";
import { openGgufTokenizer, type GgufTokenizer } from "../../src/node/tokenizer/ggufTokenizer";
import { HttpLlamaServer } from "../../src/node/llamaServer/llamaServer";
import { buildWorker, type BuiltWorker } from "../support/builtWorker";
import { forgedModel } from "../support/forge/forgeModel";
import { startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";

let worker: BuiltWorker;
let server: LlamaServerProcess;
let client: HttpLlamaServer;
const opened: GgufTokenizer[] = [];
const never = new AbortController().signal;
const text = "function tide(hour) { return 3 * hour; } <|im_end|> 潮位表\n";

async function open(model: string): Promise<GgufTokenizer> {
  const tokenizer = await openGgufTokenizer(model, { signal: never, workerFile: worker.file });
  opened.push(tokenizer);
  return tokenizer;
}

beforeAll(async () => {
  worker = await buildWorker();
  server = await startLlamaServer({
    model: await forgedModel({ vocabulary: "qwen2_5" }),
    args: ["-c", "512", "-np", "1"],
  });
  client = new HttpLlamaServer({ url: server.url });
});
afterAll(async () => {
  await Promise.all(opened.map((tokenizer) => tokenizer.close()));
  await server.stop();
  await worker.remove();
});

describe("a vocabulary held against a running llama-server", () => {
  it("counts in its place where the test text has the same tokens", async () => {
    const facts = await client.facts(never);
    const vocabulary = await open(await forgedModel({ vocabulary: "qwen2_5" }));
    const { kind, tokenizer } = await calibrated(vocabulary, client.tokenizer(facts), facts, never);
    expect(kind).toBe("same");
    expect(tokenizer.identity).toMatchObject({ source: "gguf", checkedWith: client.url });
    expect(tokenizer.fingerprint).toBe(vocabulary.fingerprint);
    expect(await tokenizer.count([text], never)).toEqual(await client.tokenizer(facts).count([text], never));
  });

  it("does not where it is another model's: the server counts, under a fingerprint of its own", async () => {
    const facts = await client.facts(never);
    const vocabulary = await open(await forgedModel({ vocabulary: "gptoss" }));
    const { kind, tokenizer } = await calibrated(vocabulary, client.tokenizer(facts), facts, never);
    expect(kind).toBe("different");
    expect(tokenizer.identity.source).toBe("server");
    expect(tokenizer.fingerprint).toMatch(/^[0-9a-f]{32}$/);
    expect(await tokenizer.count([text], never)).toEqual(await client.tokenizer(facts).count([text], never));
    const again = await calibrated(vocabulary, client.tokenizer(facts), facts, never);
    expect(again.tokenizer.fingerprint).toBe(tokenizer.fingerprint);
  });
});
