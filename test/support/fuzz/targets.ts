import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import {
  readModels,
  readProps,
  readServerError,
  readSlots,
  readTokens,
} from "../../../src/core/acceptance/serverReplies";
import { readMetrics } from "../../../src/core/bench/serverMetrics";
import { readSlotProgress } from "../../../src/core/bench/slotProgress";
import { notebookText } from "../../../src/core/files/notebookText";
import { matchIgnoreFile, parseIgnoreFile } from "../../../src/core/files/ignoreRules";
import { historyAs, historyFormats } from "../../../src/core/history/exportHistory";
import { parseHistoryLine } from "../../../src/core/history/historyRecord";
import { importCurves } from "../../../src/core/history/importCurves";
import { parseLadderLine } from "../../../src/core/ladder/score/record";
import { memoryBudget } from "../../../src/core/memory/budget/memoryBudget";
import { describeModel } from "../../../src/core/model/describeModel";
import { modelOf } from "../../../src/core/model/modelOf";
import { parseDepthCurve } from "../../../src/core/prefill/depthCurve";
import { scriptLanguages } from "../../../src/core/scripts/scriptLanguages";
import { readSwapRunning } from "../../../src/core/servers/llamaSwapRunning";
import { unpackVocabulary } from "../../../src/core/tokens/kernel/bundle";
import { UserError } from "../../../src/core/userError";
import { UnexpectedValue } from "../../../src/core/wire";
import { readLine } from "../../../src/node/tokenizer/countCacheLines";
import { headers } from "../../unit/core/memory/fixtures";
import { denseModel } from "../forge/denseModel";
import { ggufHeaderBytes, type GgufFile } from "../forge/writeGguf";
import { hybridModel } from "../forge/hybridModel";
import { dimensions } from "../forge/sizes";
import { slidingWindowModel } from "../forge/slidingWindowModel";
import { kernelOf } from "../kernelOf";
import { nastyStrings } from "../nastyTexts";
import { repository } from "../repository";
import type { SeededRandom } from "../seededRandom";
import { bytePairs } from "../vocabularies/sensitiveVocabularies";
import * as small from "../vocabularies/smallVocabularies";
import { vocabularyMetadata, type VocabularySpec } from "../vocabularies/vocabularySpec";
import { harmful } from "./harmful";
import { mutatedBytes, mutatedGguf, mutatedJson, mutatedText } from "./mutate";
import {
  readHeaderBytes,
  readLogText,
  readPlanText,
  readPresetBytes,
  readScriptText,
  renderTemplate,
} from "./readers";

/** One try: an input made by chance is read to the end. Only a `UserError` may be thrown. */
export type Target = (random: SeededRandom, folder: string) => void | Promise<void>;

/** A refusal by one of ours; anything else that is thrown is a fault. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof UserError || error instanceof UnexpectedValue;

const fixture = (...names: string[]): string => path.join(repository, "test/fixtures", ...names);
const textsIn = (...names: string[]): string[] =>
  readdirSync(fixture(...names), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(fixture(...names, entry.name), "utf8"));

const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
};

const smallVocabulary = (): VocabularySpec => bytePairs("qwen2");

const ggufs = once((): readonly GgufFile[] => {
  const size = dimensions.tiny;
  const vocabulary = smallVocabulary();
  return [
    denseModel("llama", size, 4096, vocabulary),
    denseModel("qwen3", size, 4096, vocabulary),
    slidingWindowModel(size, 4096, vocabulary),
    hybridModel(size, 4096, vocabulary),
  ];
});

const realHeaders = once(() => Array.from(headers().values()));

const vocabularies = once(() =>
  [
    small.unigram({ addSpacePrefix: true, removeExtraWhitespaces: false, characterMap: true }),
    small.rwkv(),
    small.overlappingTokens(),
    small.withoutMerges(),
    small.wordPiece({ lowercase: true }),
    small.sentencePiece({}),
    small.sentencePiece({ name: "phi-3" }),
    new Map([
      ...denseModel("llama", dimensions.tiny, 4096, smallVocabulary()).metadata,
      ...vocabularyMetadata(smallVocabulary()),
    ]),
  ].map((metadata): GgufFile => ({ metadata, tensors: [] })),
);

const logs = once(() => [
  ...textsIn("logs"),
  ...textsIn("logs", "conversation"),
  ...textsIn("hostile", "logs"),
]);

const flags = [
  "-c",
  "-ctk",
  "q8_0",
  "--n-gpu-layers",
  "-ot",
  "=CPU",
  "llama-server",
  "on",
  "auto",
  ",",
  "=",
  ";",
  "#",
  "[",
  "]",
];
const presets = [
  "[*]\nngl = 99\nfa = on\n\n[coder]\nm = a.gguf\nctx-size = 32768\nctv = q8_0\n; end\n[chat]\nhf = o/c:Q4\nalias = a,b\n",
  "version = 1\nm = x.gguf\n[a]\nspec-type = draft-mtp\nsplit-mode = row\ntensor-split = 1,2\n[a]\nc = 0\n",
];

const scripts: readonly string[] = [
  `#!/bin/sh\nMODEL=a.gguf\nLLAMA_ARG_CTX_SIZE=8k sudo llama-server -m "$MODEL" -c $(nproc) \\\n -ctv q8_0 <<E\nx\nE\nsh -c 'llama-server -c 1'\n`,
  "services:\n  l: &a\n    image: ghcr.io/ggml-org/llama.cpp:server\n    command: ['-c', '1']\n  m: *a\n  n:\n    <<: *a\n    environment: [LLAMA_ARG_C=1]\n",
  "macros:\n  m: llama-server -c 1 ${n}\n  n: -np 2\nmodels:\n  a:\n    cmd: |\n      ${m} --port ${PORT}\n      # no\n      -fa on\n",
  'FROM ghcr.io/ggml-org/llama.cpp:server AS a\nARG C=1\nENV LLAMA_ARG_CTX_SIZE=${C}\nENTRYPOINT ["/app/llama-server", "-c", "1"]\nCMD -np 2\nRUN <<E\nllama-server\nE\n',
  "$a = @('-c', '1')\n& llama-server.exe @a `\n -fa on\nStart-Process llama-server -ArgumentList \"-c 1\"\n<# x #>\n@\"\nx\n\"@\n",
  '@echo off\r\nset C=1\r\nstart "title" llama-server.exe -c %C% ^\r\n -fa on\r\n',
  '{"configurations": [{"command": "llama-server", "args": ["-m", "a\\u002egguf", {"value": "-c"}]}]}',
];

const replies: readonly (readonly [read: (body: unknown) => unknown, body: unknown])[] = [
  [
    readProps,
    {
      default_generation_settings: { n_ctx: 4096 },
      total_slots: 4,
      build_info: "b1-x",
      model_alias: "a",
      model_path: "/a",
      is_sleeping: false,
      modalities: { vision: true },
    },
  ],
  [
    readSlots,
    [{ id: 0, n_ctx: 1024, is_processing: true, n_prompt_tokens: 5, next_token: [{ n_decoded: 2 }] }],
  ],
  [
    readSlotProgress,
    [{ id: 0, id_task: 1, is_processing: true, n_prompt_tokens: 5, n_prompt_tokens_processed: 2 }],
  ],
  [
    readModels,
    {
      data: [
        {
          id: "a",
          aliases: ["b"],
          status: { value: "loaded", args: ["-c", "1"] },
          meta: { n_ctx_train: 4096, n_params: 5e9, size: 1e9 },
        },
      ],
    },
  ],
  [readTokens, { tokens: [1, 2, 3] }],
  [
    readServerError,
    { error: { code: 400, message: "m", type: "exceed_context_size_error", n_prompt_tokens: 5, n_ctx: 4 } },
  ],
  [readSwapRunning, { running: [{ model: "a", state: "ready" }] }],
  [
    parseDepthCurve,
    {
      key: { model: "a", build: "b", flags: "" },
      points: [{ depth: 0, tokens: 512, seconds: 1 }],
      generation: [{ depth: 0, tokensPerSecond: 10 }],
    },
  ],
];

const record = {
  version: 1,
  id: "1",
  kind: "probe",
  at: 1,
  tool: "t",
  curve: {
    key: { model: "a", build: "b", flags: "" },
    points: [{ depth: 0, tokens: 512, seconds: 1 }],
    generation: [],
  },
  seconds: 5,
  steps: [{ depth: 0, tokens: 512, seconds: 1 }],
  monitor: { verdict: "quiet", events: [], samples: 1 },
  drift: { ratio: 1 },
};

const templates: readonly string[] = [
  "{% for m in messages %}{{ '<|' + m.role + '|>' }}{{ m.content | trim }}{% endfor %}{% if add_generation_prompt %}<|a|>{% endif %}",
  "{% set ns = namespace(n=0) %}{% for i in range(3) %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}{{ messages[-1]['content'][::-1] }}",
  "{% macro f(x) %}{{ x | upper }}{% endmacro %}{{ f(bos_token) }}{{ strftime_now('%d %b %Y') }}{{ {'a': 1} | tojson }}",
];
const templateWords = [
  ...["{{", "}}", "{%", "%}", "|", "for i in range(999999)", "endfor", "loop", "namespace(", "tojson"],
  ...["constructor", "__proto__", "'a' * 999999", "| replace('', 'x')", ".split('')", "raise_exception("],
];

const plan = `rungs: [8K, 32K, 64K]
criteria: { perRun: 18, pooled: 56 }
repetitions: 3
canaries: { target: 20, other: 10 }
`;

/** What is read that somebody else wrote, from its bytes to what is made of it. */
export const targets: Readonly<Record<string, Target>> = {
  header: (random) => readHeaderBytes(ggufHeaderBytes(mutatedGguf(random.pick(ggufs()), random))),
  headerBytes: (random) => {
    const bytes =
      random.below(3) === 0 ? random.pick(harmful.headerBytes) : ggufHeaderBytes(random.pick(ggufs()));
    return readHeaderBytes(new Uint8Array(mutatedBytes(bytes, random)));
  },
  realHeader: (random) => {
    const header = random.pick(realHeaders());
    const metadata = new Map(header.metadata);
    for (let left = 1 + random.below(3); left > 0; left--) {
      const key = random.pick(Array.from(metadata.keys()));
      const odd = mutatedJson(metadata.get(key), random, 1);
      if (random.below(10) === 0) metadata.delete(key);
      else if (odd !== null && (typeof odd !== "object" || Array.isArray(odd)))
        metadata.set(key, odd as number);
    }
    const changed = { ...header, metadata };
    describeModel(changed);
    memoryBudget(modelOf(changed), { ctxSize: random.pick([512, 32_768, 0]) }, [
      { name: "CUDA0", freeBytes: 24 * 2 ** 30 },
    ]);
  },
  vocabulary: (random, folder) => {
    const file = path.join(folder, "vocabulary.gguf");
    const bytes = ggufHeaderBytes(mutatedGguf(random.pick(vocabularies()), random));
    writeFileSync(file, random.below(4) === 0 ? mutatedBytes(bytes, random) : bytes);
    const kernel = kernelOf(file);
    for (const text of nastyStrings(random.below(2 ** 31), 5)) {
      const [counted, ids] = [
        kernel.count(text, { parseSpecial: true }),
        kernel.encode(text, { parseSpecial: true }),
      ];
      if (counted !== ids.length) throw new Error(`counted ${counted}, encoded ${ids.length}`);
    }
  },
  vocabularyBlock: (random) => {
    const bytes = new Uint8Array(mutatedBytes(new Uint8Array(256), random));
    unpackVocabulary(bytes.buffer);
  },
  log: (random) => {
    const text = random.pick(logs());
    const from = random.below(text.length);
    const part = mutatedText(text.slice(from, from + 20_000), random);
    readLogText(part);
  },
  preset: (random) => {
    const text = Buffer.from(mutatedText(random.pick([...presets, ...harmful.preset]), random, flags));
    readPresetBytes(random.below(4) === 0 ? mutatedBytes(text, random) : text);
  },
  script: (random) => {
    const [text, language] =
      random.below(8) === 0
        ? random.pick(harmful.script)
        : [random.pick(scripts), random.pick(scriptLanguages)];
    readScriptText(mutatedText(text, random, flags), language);
  },
  reply: (random) => {
    const [read, body] = random.pick(replies);
    read(JSON.parse(JSON.stringify(mutatedJson(body, random))));
  },
  metrics: (random) => {
    readMetrics(
      mutatedText("# HELP x\nllamacpp:prompt_tokens_total 5\nllamacpp:prompt_seconds_total 1.5\n", random),
    );
  },
  history: (random) => {
    const mutated = JSON.stringify(mutatedJson(record, random));
    const line = parseHistoryLine(random.below(3) === 0 ? mutatedText(mutated, random) : mutated);
    if (line.kind === "record") for (const format of historyFormats) historyAs(format, [line.record]);
  },
  imports: (random) => {
    importCurves(mutatedText(random.pick(textsIn("speed")).slice(0, 20_000), random));
  },
  counts: (random) => {
    readLine(mutatedText('12345678 ["f","/a",5,1,"1 1","key",5,"","",null,""]', random));
  },
  plan: (random) => {
    readPlanText(mutatedText(plan, random, ["- ", ": ", "&a ", "*a", "!!", "|", ">", "{", "["]));
  },
  ladder: (random) => {
    const line = random.pick(random.pick(textsIn("ladder")).split("\n"));
    parseLadderLine(random.below(2) === 0 ? mutatedText(line, random) : line);
  },
  ignore: (random) => {
    const file = parseIgnoreFile(
      mutatedText("*.log\n!/a/**/b\n[a-c]?x\n\\#y \n**/\n", random, ["*", "**", "/", "[", "]", "!", "\\"]),
      "x",
      false,
    );
    for (const text of nastyStrings(random.below(2 ** 31), 5)) matchIgnoreFile(file, `a/${text}`, false);
  },
  template: (random) => {
    renderTemplate(mutatedText(random.pick(templates), random, templateWords));
  },
  notebook: (random) => {
    notebookText(
      JSON.stringify(
        mutatedJson(
          { cells: [{ cell_type: "code", source: ["a", "b"], outputs: [] }], metadata: {} },
          random,
        ),
      ),
    );
  },
};
