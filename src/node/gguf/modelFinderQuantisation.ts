import { openRegular } from "../reading/regularFile";

/** llama.cpp's `llama_ftype` (llama.h), the values of `general.file_type`. */
const fileTypes: Readonly<Record<number, string>> = {
  0: "F32",
  1: "F16",
  2: "Q4_0",
  3: "Q4_1",
  7: "Q8_0",
  8: "Q5_0",
  9: "Q5_1",
  10: "Q2_K",
  11: "Q3_K_S",
  12: "Q3_K_M",
  13: "Q3_K_L",
  14: "Q4_K_S",
  15: "Q4_K_M",
  16: "Q5_K_S",
  17: "Q5_K_M",
  18: "Q6_K",
  19: "IQ2_XXS",
  20: "IQ2_XS",
  21: "Q2_K_S",
  22: "IQ3_XS",
  23: "IQ3_XXS",
  24: "IQ1_S",
  25: "IQ4_NL",
  26: "IQ3_S",
  27: "IQ3_M",
  28: "IQ2_S",
  29: "IQ2_M",
  30: "IQ4_XS",
  31: "IQ1_M",
  32: "BF16",
  36: "TQ1_0",
  37: "TQ2_0",
  38: "MXFP4_MOE",
};

const headBytes = 8192;
const uint32Type = 4;

/** "UD-Q4_K_XL" of "Qwen3-8B-UD-Q4_K_XL.gguf"; upper case. */
export function quantisationOfName(name: string): string | undefined {
  const pattern =
    /(?:^|[-._])((?:UD-)?(?:I?Q\d(?:_[A-Z0-9]+)*|TQ\d_\d|MXFP4(?:_MOE)?|NVFP4|BF16|F?P?16|F?P?32))(?=[-._]|$)/gi;
  const found = Array.from(name.replace(/\.gguf$/i, "").matchAll(pattern), (match) => match[1] ?? "");
  return found
    .filter((text) => !/^\d+$/.test(text))
    .at(-1)
    ?.toUpperCase();
}

/** What the first few KiB of the file say: whether it is a GGUF, and `general.file_type` where it comes that early. */
export async function readGgufHead(
  file: string,
): Promise<{ readonly isGguf: boolean; readonly quantisation?: string }> {
  const { handle } = await openRegular(file);
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    const head = buffer.subarray(0, bytesRead);
    if (head.toString("latin1", 0, 4) !== "GGUF") return { isGguf: false };
    const key = "general.file_type";
    const at = head.indexOf(key, 0, "latin1") + key.length;
    if (at < key.length || at + 8 > head.length || head.readUInt32LE(at) !== uint32Type)
      return { isGguf: true };
    const quantisation = fileTypes[head.readUInt32LE(at + 4) % 1024];
    return { isGguf: true, ...(quantisation !== undefined && { quantisation }) };
  } finally {
    await handle.close();
  }
}
