import { SeededRandom } from "./seededRandom";

/** Characters that pre-tokenizers treat differently, or that only look alike. */
const alphabets = [
  "abcdestrvml",
  "ABCDESTRVML",
  "0123456789",
  "'''’",
  "   ",
  "\n\r\t \u00a0\u3000\u0085\u2028\v\f",
  '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~',
  "éßñÉŠž",
  "ıİſ\u212a\u2126\u212b",
  "жЯіЙ",
  "αΩς",
  "日本語漢字你好的",
  "ひらがなカタカナー\u3099\u309a\u30fb",
  "한국어조선",
  "مرحبا بالعالم",
  "\u064e\u064f\u0650\u0651",
  "हिन्दीाि्",
  "ไทยภาษา\u0e35\u0e48\u0e49",
  "٠١٢٣٤४५६",
  "²½Ⅷ①㊀",
  "😀👍🏽👨‍👩‍👧‍👦🇩🇪",
  "\u200b\u200c\u200d\ufeff\u00ad",
  "\u0300\u0301\u0327",
  "\u{10400}\u{1e900}\u{20000}\u{2a6d6}\u{f0000}",
  "…。，、।۔،「」“”‘’–—",
  "\u0000\u0001\u001c\u007f",
  "ǅǈʰᵃªº",
  "▁",
  "IMGIMGAZ",
  "ﬀＡａ１！",
].map((text) => Array.from(text));

/** Strings of a few characters to some dozens, drawn so that classes meet in every order. The same for the same seed. */
export function nastyStrings(seed: number, count: number): string[] {
  const random = new SeededRandom(seed);
  return Array.from({ length: count }, () => nastyString(random));
}

function nastyString(random: SeededRandom): string {
  const length = 1 + random.below(1 + random.below(60));
  const kind = random.below(100);
  if (kind < 8) return times(length, () => codePoint(random.below(0x110000)));
  if (kind < 16) return times(length, () => codePoint(random.below(0x3000)));
  const used = Array.from({ length: 1 + random.below(5) }, () => random.pick(alphabets));
  let text = "";
  while (text.length < length) {
    const alphabet = random.pick(used);
    const same = random.below(10) < 3 ? random.pick(alphabet) : undefined;
    text += times(1 + random.below(1 + random.below(8)), () => same ?? random.pick(alphabet));
  }
  return text;
}

const times = (count: number, make: () => string): string => Array.from({ length: count }, make).join("");

const codePoint = (code: number): string =>
  String.fromCodePoint(code >= 0xd800 && code <= 0xdfff ? code - 0x800 : code);

/** Texts that caught a tokenizer somewhere. */
export const knownTexts: readonly string[] = [
  "",
  " ",
  "  ",
  "\n",
  "\n\n\n",
  "\r\n\r\n",
  "\t\t code()\n",
  "    indented\n\t\tmixed\r\n",
  "don't DON'T I'LL we're they'Ve ’s",
  "1234567890 12 1,234,567.89 ١٢٣٤ ⅷ",
  "Việt Nam café naïve",
  "Việt Nam cafe\u0301 naïve".normalize("NFD"),
  "\ufeffwith a byte order mark",
  "日本語のテキストと漢字、ひらがな。カタカナー",
  "안녕하세요 세계 \u1112\u1161\u11ab",
  "مرحبا بالعالم، كيف حالك؟",
  "हिन्दी में कुछ शब्द और ๑๒๓ ภาษาไทย",
  "👨‍👩‍👧‍👦 🇩🇪 👍🏽 ❤️",
  "U+2581 ▁▁ a▁b",
  "zero\u200bwidth \u200c \u200d joiners",
  "NUL \u0000 in \u0001 text",
  "<|im_start|>user\nhi<|im_end|>\n<|endoftext|>",
  "<s>[INST] hello [/INST]</s> <unk> <pad> <bos><eos>",
  "<start_of_turn>user<end_of_turn>\n<|channel|>final<|message|>x<|return|>",
  "<|begin_of_text|><|eot_id|> <｜begin▁of▁sentence｜> <think></think>",
  "<table><td>cell</td></table> &amp; <br/>",
  `${"a".repeat(3000)} ${"=-".repeat(800)} ${" ".repeat(500)}x`,
  "x".repeat(200) + "日".repeat(300) + "\n".repeat(100),
];
