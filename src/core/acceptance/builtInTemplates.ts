import type { ChatTemplate } from "./chatTemplate";

const whole = (prefix: string, suffix: string): ChatTemplate => ({ prefix, suffix, trims: false });
const trimmed = (prefix: string, suffix: string): ChatTemplate => ({ prefix, suffix, trims: true });

/**
 * What llama-server's built-in templates put around one user message, by their names: with `--no-jinja` these are what
 * `--chat-template NAME` means. Taken from the `/apply-template` of b11669 for each of them.
 */
const templates: Readonly<Record<string, ChatTemplate>> = {
  bailing: whole("<role>HUMAN</role>", "<role>ASSISTANT</role>"),
  "bailing-think": whole("<role>HUMAN</role>", "<role>ASSISTANT</role><think>"),
  bailing2: whole(
    "<role>SYSTEM</role>detailed thinking off<|role_end|><role>HUMAN</role>",
    "<|role_end|><role>ASSISTANT</role>",
  ),
  chatglm3: whole("[gMASK]sop<|user|>\n ", "<|assistant|>"),
  chatglm4: whole("[gMASK]<sop><|user|>\n", "<|assistant|>\n"),
  chatml: whole("<|im_start|>user\n", "<|im_end|>\n<|im_start|>assistant\n"),
  "command-r": trimmed(
    "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>",
    "<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
  ),
  deepseek: whole("### Instruction:\n", "\n### Response:\n"),
  "deepseek-ocr": whole("", ""),
  deepseek2: whole("User: ", "\n\nAssistant:"),
  deepseek3: whole("<｜User｜>", "<｜Assistant｜>"),
  "exaone-moe": trimmed("<|user|>\n", "<|endofturn|>\n<|assistant|>\n"),
  exaone3: trimmed("[|user|]", "\n[|assistant|]"),
  exaone4: trimmed("[|user|]", "\n[|assistant|]"),
  falcon3: whole("<|user|>\n", "\n<|assistant|>\n"),
  gemma: trimmed("<start_of_turn>user\n", "<end_of_turn>\n<start_of_turn>model\n"),
  gigachat: whole(
    "<s>user<|role_sep|>",
    "<|message_sep|>available functions<|role_sep|>[]<|message_sep|>assistant<|role_sep|>",
  ),
  glmedge: whole("<|user|>\n", "<|assistant|>"),
  "gpt-oss": whole("<|start|>user<|message|>", "<|end|><|start|>assistant"),
  granite: whole(
    "<|start_of_role|>user<|end_of_role|>",
    "<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>",
  ),
  "granite-4.0": whole(
    "<|start_of_role|>user<|end_of_role|>",
    "<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>",
  ),
  "granite-4.1": whole(
    "<|start_of_role|>user<|end_of_role|>",
    "<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>",
  ),
  "grok-2": trimmed("Human: ", "<|separator|>\n\nAssistant:"),
  "hunyuan-dense": whole("<｜hy_User｜>", "<｜hy_Assistant｜>"),
  "hunyuan-moe": whole("<|startoftext|>", "<|extra_0|>"),
  "hunyuan-vl": whole("<｜hy_begin▁of▁sentence｜>", "<｜hy_User｜>"),
  "kimi-k2": whole("<|im_user|>user<|im_middle|>", "<|im_end|><|im_assistant|>assistant<|im_middle|>"),
  llama2: whole("[INST] ", " [/INST]"),
  "llama2-sys": whole("[INST] ", " [/INST]"),
  "llama2-sys-bos": whole("[INST] ", " [/INST]"),
  "llama2-sys-strip": trimmed("[INST] ", " [/INST]"),
  llama3: trimmed(
    "<|start_header_id|>user<|end_header_id|>\n\n",
    "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
  ),
  llama4: trimmed(
    "<|header_start|>user<|header_end|>\n\n",
    "<|eot|><|header_start|>assistant<|header_end|>\n\n",
  ),
  megrez: whole("<|role_start|>user<|role_end|>", "<|turn_end|><|role_start|>assistant<|role_end|>"),
  minicpm: trimmed("<用户>", "<AI>"),
  "mistral-v1": whole(" [INST] ", " [/INST]"),
  "mistral-v3": whole("[INST] ", "[/INST]"),
  "mistral-v3-tekken": whole("[INST]", "[/INST]"),
  "mistral-v7": whole("[INST] ", "[/INST]"),
  "mistral-v7-tekken": whole("[INST]", "[/INST]"),
  monarch: whole("user\n", "</s>\n<s>assistant\n"),
  openchat: whole("GPT4 Correct User: ", "<|end_of_turn|>GPT4 Correct Assistant:"),
  orion: whole("Human: ", "\n\nAssistant: </s>"),
  "pangu-embedded": whole("[unused9]系统：[unused10][unused9]用户：", "[unused10][unused9]助手："),
  phi3: whole("<|user|>\n", "<|end|>\n<|assistant|>\n"),
  phi4: whole("<|im_start|>user<|im_sep|>", "<|im_end|><|im_start|>assistant<|im_sep|>"),
  "rwkv-world": trimmed("User: ", "\n\nAssistant:"),
  seed_oss: whole("<seed:bos>user\n", "<seed:eos><seed:bos>assistant\n"),
  smolvlm: whole("<|im_start|>User: ", "<end_of_utterance>\nAssistant:"),
  "solar-open": whole("<|begin|>user<|content|>", "<|end|><|begin|>assistant"),
  vicuna: whole("USER: ", "\nASSISTANT:"),
  "vicuna-orca": whole("USER: ", "\nASSISTANT:"),
  yandex: whole(" Пользователь: ", "\n\n Ассистент:[SEP]"),
  zephyr: whole("<|user|>\n", "<|endoftext|>\n<|assistant|>\n"),
};

export function builtInTemplate(name: string): ChatTemplate | undefined {
  return Object.hasOwn(templates, name) ? templates[name] : undefined;
}

export const builtInTemplateNames: readonly string[] = Object.keys(templates);
