import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import type { DepthCurve } from "../../../../src/core/prefill/depthCurve";
import type { UserError } from "../../../../src/core/userError";
import type { Monitor } from "../../../../src/node/monitor/monitor";
import { runServerProbe } from "../../../../src/app/measuring/serverProbe";
import {
  goodAnswer,
  goodReplies,
  sendJson,
  startHttpStub,
  type Answer,
  type StubServer,
} from "../../../support/stubServer";

/** What a probe makes of servers that misbehave, without the pauses of a real watch. */

let server: StubServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const quiet: Monitor = {
  measure: () => undefined,
  baseline: () => Promise.resolve(),
  freeMemoryBytes: undefined,
  stop: () => Promise.resolve({ verdict: "unmonitored", events: [], samples: 0 }),
};

/** `/completion` as build 11669 streams it: one progress event per 256 tokens, then timings. */
function stream(
  response: ServerResponse,
  tokens: number,
  change: { readonly cached?: number; readonly msPerToken?: number; readonly cutAfter?: number } = {},
): void {
  const { cached = 0, msPerToken = 1, cutAfter = Infinity } = change;
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (event: object): boolean => response.write(`data: ${JSON.stringify(event)}\n\n`);
  for (let processed = 0; processed <= tokens; processed += 256) {
    if (processed > cutAfter) {
      response.destroy();
      return;
    }
    const seen = Math.min(tokens, Math.max(cached, processed));
    send({ prompt_progress: { total: tokens, cache: cached, processed: seen, time_ms: seen * msPerToken } });
  }
  send({
    prompt_progress: { total: tokens, cache: cached, processed: tokens, time_ms: tokens * msPerToken },
  });
  send({
    content: "",
    stop: true,
    timings: { prompt_n: tokens, prompt_ms: tokens * msPerToken, predicted_n: 16, predicted_ms: 160 },
  });
  response.end();
}

const tokenize: Answer = (request, response) => {
  const { content } = request.json as { readonly content: string };
  sendJson(response, { tokens: content.split(/\s+/).map((_, i) => i) });
};

const promptOf = (json: unknown): number => (json as { readonly prompt: readonly number[] }).prompt.length;

const bigProps = { ...goodReplies["/props"], default_generation_settings: { params: {}, n_ctx: 16_384 } };

function answers(completion: Answer, props: () => object = () => bigProps): Answer {
  return goodAnswer({
    "/props": (_, response) => sendJson(response, props()),
    "/tokenize": tokenize,
    "/completion": completion,
  });
}

async function probe(answer: Answer, onMeasured?: (curve: DepthCurve) => void) {
  server = await startHttpStub(answer);
  return runServerProbe(
    { url: server.url, budgetSeconds: 20, monitor: quiet, ...(onMeasured && { onMeasured }) },
    new AbortController().signal,
  );
}

const failure = async (answer: Answer): Promise<UserError> =>
  probe(answer).then(
    () => expect.fail("it did not fail"),
    (error: unknown) => error as UserError,
  );

describe("a probe of a server", () => {
  it("that behaves makes a curve of every batch, and tells it while it runs", async () => {
    const told: DepthCurve[] = [];
    const report = await probe(
      answers((request, response) => stream(response, promptOf(request.json))),
      (curve) => told.push(curve),
    );
    expect(report.ended).toBe("finished");
    expect(report.curve.points.length).toBeGreaterThan(16);
    expect(report.curve.points.every((p) => Math.abs(p.seconds / p.tokens - 0.001) < 1e-9)).toBe(true);
    // the two short prompts: 2 and 8 batches
    expect(told[0]?.points).toHaveLength(10);
  });

  it("that takes tokens from its cache is refused: they would look like speed", async () => {
    const error = await failure(
      answers((request, response) => stream(response, promptOf(request.json), { cached: 256 })),
    );
    expect(error.reason).toBe("badOutput");
    expect(error.message).toMatch(/took 256 tokens of the probe from its cache/);
  });

  it("that comes back as another build or with another model is not used", async () => {
    let prompts = 0;
    const props = (): object => (prompts >= 4 ? { ...bigProps, build_info: "b12000-Debian" } : bigProps);
    const error = await failure(
      answers((request, response) => {
        prompts++;
        stream(response, promptOf(request.json));
      }, props),
    );
    expect(error.message).toMatch(/was restarted or changed its model during the probe/);
  });

  it("that ends in the middle leaves what was measured, and says so", async () => {
    const report = await probe(
      answers((request, response) => {
        const tokens = promptOf(request.json);
        stream(response, tokens, tokens > 2048 ? { cutAfter: 3000 } : {});
      }),
    );
    expect(report.ended).toBe("failed");
    expect(report.warnings).toHaveLength(1);
    // at least the two short prompts: 2 and 8 batches
    expect(report.curve.points.length).toBeGreaterThanOrEqual(10);
  });

  it.each<[string, Answer, string]>([
    [
      "is still loading",
      (_, response) => sendJson(response, { error: { code: 503, message: "Loading model" } }, 503),
      "loading",
    ],
    [
      "stops with an error in the stream",
      (_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(`data: ${JSON.stringify({ error: { code: 500, message: "out of memory" } })}\n\n`);
      },
      "outsideFailed",
    ],
    ["answers with something else", (_, response) => response.end("<html></html>"), "outsideFailed"],
    [
      "closes at once",
      (_, response) => {
        response.destroy();
      },
      "outsideFailed",
    ],
  ])("that %s is one clear error", async (_, completion, reason) => {
    const error = await failure(answers(completion));
    expect(error.reason).toBe(reason);
    expect(error.remedy).toBeDefined();
  });

  it("that sleeps is not woken", async () => {
    const error = await failure(
      answers(
        () => expect.fail("it was asked for a completion"),
        () => ({ ...bigProps, is_sleeping: true }),
      ),
    );
    expect(error.message).toMatch(/asleep/);
  });

  it("with figures that no machine can have is refused: they would predict no wait", async () => {
    const error = await failure(
      answers((request, response) => stream(response, promptOf(request.json), { msPerToken: 0 })),
    );
    expect(error.reason).toBe("badOutput");
    expect(error.message).toMatch(/read 512 tokens in 0\.0 s, which no machine can/);
  });
});
