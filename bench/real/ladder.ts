import { formatText } from "../../src/core/format";
import { parsePlan } from "../../src/core/ladder/plan/parsePlan";
import { ladderReport } from "../../src/core/ladder/report/ladderReport";
import { runLadder } from "../../src/app/ladderRun";
import { modelNames, realSetup, signal, startReal, table } from "./support";

const planText = (seed: number): string => `
rungs: [1K, 2K, 4K]
baseTokens: 512
repetitions: 3
repeated: [512, 1K, 2K]
seed: ${seed}
canaries: { target: 10, other: 10, distractors: false, question: line }
constraints: false
answerTokens: 64
criteria: { perRun: 7, pooled: 26 }
`;

/** The same plan with three KV cache types, and once more with another seed: do two runs agree on the window? */
export async function ladder(): Promise<void> {
  const rows: string[][] = [];
  for (const name of ["chat", "window"] as const) {
    const setup = await realSetup(name);
    for (const [kv, seed] of [
      ["f16", 1],
      ["f16", 2],
      ["q8_0", 1],
      ["q4_0", 1],
    ] as const) {
      const server = await startReal(setup, 8192, ["-fa", "on", "-ctk", kv, "-ctv", kv]);
      try {
        const record = await runLadder(
          { url: server.url, plan: parsePlan(planText(seed)), planFolder: ".", tool: "bench", now: Date.now },
          signal,
        );
        const { rungs, window, nextStep } = ladderReport(record);
        const recall = [512, 1024, 2048, 4096].map((tokens) => {
          const found = rungs.find((rung) => rung.tokens === tokens)?.recall;
          return found === undefined ? "–" : `${found.correct}/${found.of}`;
        });
        const certain = window.sentence === undefined ? "" : formatText(window.sentence);
        rows.push([
          ...[modelNames[name], kv, `${seed}`, ...recall],
          ...[`${window.verifiedTokens ?? "none"}`, nextStep.outcome, certain],
        ]);
        console.error(rows.at(-1)?.join(", "));
      } finally {
        await server.stop();
      }
    }
  }
  console.log("\n## Ladder: recall by length, lines to complete\n");
  const head = [
    "Model",
    "KV cache",
    "Seed",
    "512",
    "1,024",
    "2,048",
    "4,096",
    "Verified",
    "Outcome",
    "With certainty",
  ];
  console.log(table(head, rows));
}
