import { bytes, count, say, tokensPerSecond, type Text } from "../text";
import { parseMebibytes, type LogLine } from "./reading/logLine";

interface Reader {
  readonly pattern: RegExp;
  readonly explain: (match: RegExpExecArray) => Text;
}

const size = (text: string | undefined) => bytes(parseMebibytes(text ?? "0"));

const readers: readonly Reader[] = [
  {
    pattern: /(?<!\S)(\S+)\s+model buffer size =\s*([\d.,]+) MiB/,
    explain: (match) =>
      (match[1] ?? "").includes("Mapped")
        ? say`Weights on the CPU, mapped from the file: ${size(match[2])} that the system may drop and read again.`
        : say`Weights on ${match[1] ?? ""}: ${size(match[2])}.`,
  },
  {
    pattern: /(?<!\S)(\S+)\s+KV buffer size =\s*([\d.,]+) MiB/,
    explain: (match) => say`KV cache on ${match[1] ?? ""}: ${size(match[2])}, for the layers on that device.`,
  },
  {
    pattern: /(?<!\S)(\S+)\s+RS buffer size =\s*([\d.,]+) MiB/,
    explain: (match) =>
      say`Recurrent state on ${match[1] ?? ""}: ${size(match[2])}, once per slot, independent of the context.`,
  },
  {
    pattern: /(?<!\S)(\S+)\s+compute buffer size =\s*([\d.,]+) MiB/,
    explain: (match) =>
      say`Compute buffer on ${match[1] ?? ""}: ${size(match[2])} of working memory. It grows with -ub and, with the context, by the attention mask (or by the scores without flash attention).`,
  },
  {
    pattern: /(?<!\S)(\S+)\s+output buffer size =\s*([\d.,]+) MiB/,
    explain: (match) =>
      say`Output buffer on ${match[1] ?? ""}: ${size(match[2])}, the vocabulary scores for each slot.`,
  },
  {
    pattern:
      /size\s*=\s*([\d.,]+) MiB \(\s*(\d+) cells,\s*(\d+) layers,\s*(\d+)\s*\/\s*(\d+)\s*seqs\), K \((\w+)\)/,
    explain: ([, whole, cells = "0", layers = "0", sequences = "0", streams = "1"]) => {
      const total = parseMebibytes(whole ?? "0");
      const perToken = total / (Number(cells) * Number(streams));
      return say`KV cache: ${count(Number(cells))} cell[s] in ${count(Number(layers))} layer[s], ${count(Number(streams))} stream[s] for ${count(Number(sequences))} sequence[s]; ${bytes(perToken)} per token.`;
    },
  },
  {
    pattern: /prompt eval time =\s*([\d.]+) ms \/\s*(\d+) tokens/,
    explain: (match) =>
      say`Prefill: ${count(Number(match[2]))} token[s] (without cached ones) at ${tokensPerSecond((Number(match[2]) / Number(match[1])) * 1000)}.`,
  },
  {
    pattern: /cached n_tokens = (\d+)/,
    explain: (match) =>
      say`${count(Number(match[1]))} token[s] of the prompt [was|were] in the cache and [is|are] not read again.`,
  },
  {
    pattern: /n_slots = (\d+), n_ctx_slot = (\d+), kv_unified = '(\w+)'/,
    explain: (match) =>
      match[3] === "true"
        ? say`${count(Number(match[1]))} slot[s] share[s|] one cache; one request may hold fewer than ${count(Number(match[2]))} token[s].`
        : say`${count(Number(match[1]))} slot[s]; one request may hold fewer than ${count(Number(match[2]))} token[s].`,
  },
  {
    pattern: /offloaded (\d+)\/(\d+) layers to GPU/,
    explain: (match) =>
      say`${count(Number(match[1]))} of ${count(Number(match[2]))} layer[s] [is|are] on the GPU; the output counts as one. Also printed if there is only a CPU.`,
  },
];

/** What a line of sizes or timings means; undefined for others. */
export function explainLine(line: LogLine): Text | undefined {
  for (const { pattern, explain } of readers) {
    const match = pattern.exec(line.text);
    if (match !== null) return explain(match);
  }
  return undefined;
}
