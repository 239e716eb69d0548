import { packedCount, type TokenizerSpec } from "../../model/tokenizerSpec";

/** Bits of llama.cpp's token attributes. */
export const attribute = {
  unknown: 1,
  unused: 2,
  normal: 4,
  control: 8,
  userDefined: 16,
  byte: 32,
  leftStrip: 64,
  rightStrip: 128,
} as const;

/** `tokenizer.ggml.token_type` → attribute; everything else has none. */
const ofType: readonly number[] = [
  0,
  attribute.normal,
  attribute.unknown,
  attribute.control,
  attribute.userDefined,
  attribute.unused,
  attribute.byte,
];

/** Attributes as the file has them. */
export function storedAttributes(count: number, tokenTypes: Int32Array | undefined): Uint8Array {
  const attributes = new Uint8Array(count).fill(attribute.normal);
  if (tokenTypes) for (let id = 0; id < count; id++) attributes[id] = ofType[tokenTypes[id] as number] ?? 0;
  return attributes;
}

const endOfTurn = [
  ..."<|eot_id|> <|im_end|> <|end|> <end_of_turn> <|endoftext|> <|end_of_text|> <EOT> _<EOT> [EOT]".split(
    " ",
  ),
  "<｜end▁of▁sentence｜>",
  "<end_of_utterance>",
];
const endOfGeneration = [
  ...endOfTurn,
  ..."<|return|> <|call|> <|flush|> <|calls|> </s> <|eom_id|> [EOS] <eos> <turn|> <|tool_response> [e~[".split(
    " ",
  ),
  "<|ifm|im_end|>",
];
const fillInTheMiddle: readonly (readonly [id: keyof TokenizerSpec["ids"], texts: readonly string[]])[] = [
  [
    "fimPrefix",
    [
      "<|fim_prefix|>",
      "<fim-prefix>",
      "<fim_prefix>",
      "<｜fim▁begin｜>",
      "<PRE>",
      "▁<PRE>",
      "<|code_prefix|>",
      "<|prefix|>",
      "<|plamo:fim_prefix|>",
    ],
  ],
  [
    "fimSuffix",
    [
      "<|fim_suffix|>",
      "<fim-suffix>",
      "<fim_suffix>",
      "<｜fim▁hole｜>",
      "<SUF>",
      "▁<SUF>",
      "<|code_suffix|>",
      "<|suffix|>",
      "<|plamo:fim_suffix|>",
    ],
  ],
  [
    "fimMiddle",
    [
      "<|fim_middle|>",
      "<fim-middle>",
      "<fim_middle>",
      "<｜fim▁end｜>",
      "<MID>",
      "▁<MID>",
      "<|code_middle|>",
      "<|middle|>",
      "<|plamo:fim_middle|>",
    ],
  ],
  ["fimPad", ["<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"]],
  ["fimRepository", ["<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"]],
  ["fimSeparator", ["<|file_sep|>", "<|plamo:file_separator|>"]],
];
const alwaysRendered = ["<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"];

/**
 * Attributes as llama.cpp overrides them by token text, architecture and model name while it loads a vocabulary.
 * `idOf` finds a token by its text.
 */
export function effectiveAttributes(
  spec: TokenizerSpec,
  idOf: (text: string) => number | undefined,
): Uint8Array {
  const attributes = storedAttributes(packedCount(spec.tokens), spec.tokenTypes);
  const add = (id: number | undefined, bits: number) => {
    if (id !== undefined) attributes[id] = (attributes[id] as number) | bits;
  };
  const remove = (id: number | undefined, bits: number) => {
    if (id !== undefined) attributes[id] = (attributes[id] as number) & ~bits;
  };
  const set = (text: string, bits: number) => {
    const id = idOf(text);
    if (id !== undefined) attributes[id] = bits;
  };
  const has = (text: string) => idOf(text) !== undefined;
  const count = attributes.length;
  const isSet = (id: number | undefined) => id !== undefined && id < count;

  for (const [key, texts] of fillInTheMiddle) {
    if (isSet(spec.ids[key])) continue;
    // llama.cpp takes the first it meets in a hash map; vocabularies have one
    add(
      texts.map(idOf).find((id) => id !== undefined),
      attribute.control,
    );
  }
  for (const text of endOfGeneration) add(idOf(text), attribute.control);
  for (const text of alwaysRendered) set(text, attribute.userDefined);
  const called = has("<|call|>") || has("<|calls|>");
  if (called && (has("<|return|>") || has("<|flush|>"))) set("<|end|>", attribute.userDefined);
  if (has("<|tool_response>") || endsGeneration(spec, idOf("<|plamo:eos|>"))) set("</s>", attribute.normal);

  const name = spec.name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const stripsMask =
    /jina-v2-(?:de|es|code)|mmbert/.test(spec.pre ?? "") ||
    /nomic-bert-moe|jina-bert-v3/.test(spec.architecture);
  if (stripsMask) add(idOf("<mask>"), attribute.leftStrip);
  else if (/phi-?3/.test(name)) {
    for (let id = 0; id < count; id++) if (isCutOut(attributes[id] as number)) add(id, attribute.rightStrip);
    add(idOf("</s>"), attribute.rightStrip);
    for (const text of ["<unk>", "<s>", "<|endoftext|>"]) remove(idOf(text), attribute.rightStrip);
  } else if (name.includes("modern-bert")) add(idOf("[MASK]"), attribute.leftStrip);
  return attributes;
}

/** Whether the file itself names the token as one that ends generation. */
function endsGeneration({ ids }: TokenizerSpec, id: number | undefined): boolean {
  if (id === undefined) return false;
  return [ids.eos, ids.eot, ids.eom, ids.fimPad, ids.fimRepository, ids.fimSeparator].includes(id);
}

/** Tokens that are looked for in the text itself. */
export const isCutOut = (bits: number): boolean =>
  (bits & (attribute.control | attribute.userDefined | attribute.unknown)) !== 0;

/** Tokens that are looked for only where special tokens are parsed. */
export const isSpecial = (bits: number): boolean => (bits & (attribute.control | attribute.unknown)) !== 0;
