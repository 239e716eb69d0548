import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openGgufTokenizer, type GgufTokenizer } from "../../src/node/tokenizer/ggufTokenizer";
import { TemplateRenderer } from "../../src/node/template/templateRenderer";
import { buildWorker, type BuiltWorker } from "../support/builtWorker";
import { forgedModel } from "../support/forge/forgeModel";
import { publishedTemplates } from "../support/publishedTemplates";
import { templateAgreement, type TemplateSetup } from "../support/templateAgreement";
import { vocabulary, vocabularyNames } from "../support/vocabularies/vocabulary";

const signal = new AbortController().signal;
let folder: string;
let workers: readonly BuiltWorker[];
let tokenizer: GgufTokenizer;
let setup: TemplateSetup;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-templates-"));
  workers = await Promise.all([buildWorker(), buildWorker("src/node/template/worker.ts")]);
  const model = await forgedModel();
  tokenizer = await openGgufTokenizer(model, { signal, workerFile: workers[0]?.file ?? "" });
  setup = { model, tokenizer, renderer: new TemplateRenderer(workers[1]?.file) };
});
afterAll(async () => {
  await tokenizer.close();
  await Promise.all([...workers.map((worker) => worker.remove()), rm(folder, { recursive: true })]);
});

/** Every so many of the published templates; all of them takes a minute of processor time. */
const every = process.env["LLAMA_GAUGE_ALL_TEMPLATES"] === undefined ? 8 : 1;

it("renders published templates as llama-server does, or refuses", { timeout: 240_000 }, async () => {
  const some = (await publishedTemplates()).filter((_, at) => at % every === every >> 1);
  const own = await Promise.all(vocabularyNames.map((name) => vocabulary(name)));
  const cases = [
    ...some,
    ...own.flatMap(({ name, chatTemplate: source }) =>
      source === undefined ? [] : [{ model: name, source }],
    ),
  ];
  const found = new Map<string, string[]>();
  for (const { model, source } of cases) {
    const file = path.join(folder, "template.jinja");
    await writeFile(file, source);
    const { agreement } = await templateAgreement(setup, source, file);
    found.set(agreement, [...(found.get(agreement) ?? []), model]);
  }
  if (every === 1) console.log(Object.fromEntries(found));
  expect(found.get("wrong")).toBeUndefined();
  expect(found.get("exact")?.length ?? 0).toBeGreaterThanOrEqual(0.9 * cases.length);
});

it.each([
  [["--reasoning", "off"]],
  [["--reasoning", "on"]],
  [["--reasoning-effort", "high"]],
  [["--chat-template-kwargs", '{"enable_thinking":false,"x":1.5}', "--reasoning-effort", "low"]],
])("gives a template the variables of %j", async (args) => {
  const source =
    "{{ messages[0].content }} {{ enable_thinking }} {{ reasoning_effort }} {{ x }} {{ date_string }} " +
    "{{ strftime_now('%Y-%m-%d %B %b %A %e %y') }} {{ bos_token }}{{ eos_token }}";
  const file = path.join(folder, "variables.jinja");
  await writeFile(file, source);
  const { ours, theirs } = await templateAgreement(setup, source, file, args);
  expect(ours).toBe(theirs);
});
