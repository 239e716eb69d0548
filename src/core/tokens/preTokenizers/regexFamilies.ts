import { afmoeDigits, collapsed, superbpeDigits, wide, type SplitStep } from "./regexSplitter";

const contractions = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])";
const gpt2 = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)`;
const qwen2 = String.raw`${contractions}|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
const cased = (digits: string) =>
  String.raw`[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]*[\p{L}\p{M}]+${contractions}?|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+[\p{L}\p{M}]*${contractions}?|${digits}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
const deepseek3 = (symbols: string) =>
  "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|" +
  String.raw`[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|${symbols}|\s+(?!\S)|\s+`;
const kanaOrHan = String.raw`[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+`;
const asianCharacters = String.raw`[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+`;
const bloom = String.raw` ?[^(\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+`;

const deepseekLetters =
  String.raw`\s?[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af` +
  String.raw`\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5` +
  String.raw`\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba` +
  String.raw`\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45` +
  String.raw`\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe` +
  String.raw`\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc` +
  String.raw`\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139` +
  String.raw`\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3` +
  String.raw`\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06` +
  String.raw`\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\u{10400}-\u{1044f}\u{104b0}-\u{104d3}\u{104d8}-\u{104fb}` +
  String.raw`\u{10c80}-\u{10cb2}\u{10cc0}-\u{10cf2}\u{118a0}-\u{118df}\u{1e900}-\u{1e943}]+`;

/** Pre-tokenizers that run as patterns. What has a scanner of its own (see `preTokenizers.ts`) is not here. */
export const regexFamilies: Readonly<Record<string, readonly SplitStep[]>> = {
  default: [
    collapsed(String.raw`[\p{P}\$\+<=>\^~\|]+`),
    collapsed(gpt2),
    collapsed(String.raw`\p{N}+`),
    wide("[0-9][0-9][0-9]"),
  ],
  falcon: [collapsed("[\\p{P}\\$\\+<=>\\^~\\|`]+"), collapsed(gpt2), wide("[0-9][0-9][0-9]")],
  deepseekLlm: [
    wide("[\r\n]"),
    wide(deepseekLetters),
    wide(String.raw`\s?[!-\/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+`),
    wide(String.raw`\s+$`),
    wide(asianCharacters),
    collapsed(String.raw`\p{N}+`),
  ],
  deepseekCoder: [
    wide("[\r\n]"),
    collapsed(String.raw`\s?\p{L}+`),
    collapsed(String.raw`\s?\p{P}+`),
    wide(asianCharacters),
    collapsed(String.raw`\p{N}`),
  ],
  bloom: [wide(bloom)],
  viking: [wide(bloom), collapsed(String.raw`\p{N}`)],
  youtu: [
    wide(
      String.raw`[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f\ufe30-\ufe4f]+|[\u3105-\u312f]+|${kanaOrHan}`,
    ),
    collapsed(cased(String.raw`\p{N}`)),
  ],
  // the pattern asks for `\d{1,3}(?=(?:\d{3})*\b)`; llama.cpp runs AFMoE's cuts for it
  tinyAya: [{ kind: "cuts", cuts: afmoeDigits }, collapsed(cased(String.raw`\p{N}{1,3}`))],
  superbpe: [collapsed(String.raw`\p{N}+`), { kind: "cuts", cuts: superbpeDigits }],
  chameleon: [
    wide("<sentinel:[0-9]+>"),
    wide("(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z"),
    wide(String.raw`([\t\n]|    |  )`),
    collapsed(String.raw`\p{N}`),
    collapsed("[\\p{P}!-/:-@\\[-`{-~]"),
    collapsed(gpt2),
  ],
  spark25: [
    collapsed(String.raw`\p{N}{1,3}`),
    wide(kanaOrHan),
    collapsed(deepseek3(String.raw` ?[\p{P}\p{S}]+|[\r\n]`)),
    collapsed(String.raw`\p{N}`),
  ],
  afmoe: [
    { kind: "cuts", cuts: afmoeDigits },
    wide(
      String.raw`[\u4e00-\u9fff\u3400-\u4dbf\u8c48-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-\u2fdf\u0e40-\u0e7f\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af\u1100-\u11ff]+`,
    ),
    collapsed(deepseek3(String.raw` ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+`)),
  ],
  laguna: [wide("[^\\n]+|[\\n]+"), collapsed(qwen2)],
  exaoneMoe: [
    collapsed(
      String.raw`${contractions}|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+`,
    ),
  ],
  k2Horizon: [
    collapsed(
      String.raw`${contractions}|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}\xD6]+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
    ),
  ],
  whitespace: [wide(String.raw`\S+`)],
};
