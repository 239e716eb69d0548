import { predict } from "../../src/core/prefill/predict";
import { reread } from "../../src/core/prefill/secondQuestion";
import { runServerProbe } from "../../src/app/measuring/serverProbe";
import { modelNames, read, realSetup, realTokens, signal, startReal, table } from "./support";

/** Where the second prompt differs from the first, as a part of it. */
const places = { end: 0.98, middle: 0.5, front: 0.05 } as const;
const changed = 16;

/** A prompt is changed at one place after the other and sent again: what the server reads of it, and for how long. */
export async function again(tokens: number): Promise<void> {
  const rows: string[][] = [];
  for (const name of ["chat", "window"] as const) {
    const setup = await realSetup(name);
    const { memory, ubatch } = setup.keeping;
    const server = await startReal(setup, tokens + 512);
    try {
      const { curve } = await runServerProbe(
        { url: server.url, budgetSeconds: 30, maxDepth: tokens },
        signal,
      );
      let before = await realTokens(server, tokens, "a second question.");
      await read(server, before);
      for (const [place, part] of Object.entries(places)) {
        const first = before;
        const at = Math.round(part * tokens);
        const second = first.map((id, i) => (i >= at && i < at + changed ? (first[i - 37] ?? id) : id));
        const shared = second.findIndex((id, i) => id !== first[i]);
        const sizes = { firstPromptTokens: tokens, sharedTokens: shared, promptTokens: tokens };
        const expected = reread({ memory, ubatch, ...sizes });
        const { timings } = await read(server, second, { cache: true });
        before = second;
        const wait = predict(curve, expected);
        const seconds = wait.known
          ? `${wait.seconds.toFixed(2)} (${wait.lowSeconds.toFixed(2)} – ${wait.highSeconds.toFixed(2)})`
          : "unknown";
        rows.push([
          ...[modelNames[name], place, `${expected.tokens}`, `${timings?.promptTokens ?? "?"}`],
          ...[seconds, (timings?.promptSeconds ?? Number.NaN).toFixed(2)],
        ]);
        console.error(rows.at(-1)?.join(", "));
      }
    } finally {
      await server.stop();
    }
  }
  console.log(`\n## The second question: a prompt of ${tokens} tokens, changed and sent again\n`);
  const head = ["Model", "Changed at", "Read again, predicted", "really", "Seconds, predicted", "really"];
  console.log(table(head, rows));
}
