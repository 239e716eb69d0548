/**
 * About 2 KB in which tokenizers differ: words with and without spaces before them, capitals, contractions, numbers,
 * runs of signs and white space, line ends, special tokens of many models, scripts, combining marks and emoji.
 */
export const probeText = [
  "Hello world, don't they'll WE'RE  It's  a test. hello HelloWorld snake_case camelCase SCREAMING_CASE\n",
  "1 12 123 1234 12345 123456789 3.14159 0x1F 1e-9 2026-11-29 ١٢٣ ４５\n",
  "if (a && !b || c >= d) { return x->y[i++] ?? null; } // ----- ===== ##### ***** !!!???\n",
  "\tindented\n\t\ttwice\n    four\n        eight  \n\r\n\r\nCRLF\r\n\n\n\n   \n \t \n",
  "<|im_start|>user\nhi<|im_end|>\n<s></s><bos><eos><pad><unk>[INST]x[/INST]<|endoftext|><|begin_of_text|>\n",
  "<start_of_turn>model<end_of_turn><think></think><tool_call>{}</tool_call><0x0A><|eot_id|><|return|>\n",
  "naïve café Straße ﬁ Å Å İstanbul ıñçõ ÆØ œuvre — “quotes” ‘single’ … € £ ¥ ½ ² ³\n",
  "Привет, мир! Γειά σου Κόσμε. שלום עולם مرحبا بالعالم सम्पूर्ण विश्व வணக்கம் สวัสดีชาวโลก Xin chào thế giới\n",
  "日本語のテスト、漢字とカタカナ。中文测试，标点符号！한국어 시험입니다.\n",
  "😀👍🏽 👩‍👩‍👧‍👦 🇯🇵 ❤️ ✅ ∑∫√∞≈ ←↑→ ░▒▓ 𝕳𝖊𝖑𝖑𝖔 𠀋 \u200b\u00a0\u3000\ufeff\u00ad\n",
  "https://example.org/a/b?c=d&e=f#g user@example.org C:\\Users\\x ~/.config/y $HOME ${z}\n",
  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa                                 ________________________________\n",
  'function f(x) {\n  return x.map((y) => `${y}`).join(", ");\n}\n\nclass A:\n    def __init__(self):\n        self.a = None\n',
  '{"key": "value", "list": [1, 2, 3], "nested": {"a": true, "b": null}}\n<div class="x">text</div>\n',
].join("");
