import { goodAnswer, sendJson, startHttpStub, type Answer, type StubServer } from "./stubServer";

/** Words and single characters as tokens; ids can be read back into text. */
const words: string[] = [];
const ids = new Map<string, number>();
function tokenize(content: unknown): number[] {
  const parts = Array.isArray(content) ? (content as unknown[]) : [content];
  return parts.flatMap((part) =>
    typeof part === "number"
      ? [part]
      : (String(part).match(/ ?[A-Za-z]+|\d{1,3}|[^A-Za-z\d]/g) ?? []).map((word) => {
          const known = ids.get(word);
          if (known !== undefined) return known;
          ids.set(word, words.length);
          return words.push(word) - 1;
        }),
  );
}

export interface Completion {
  readonly text: string;
  readonly more?: Readonly<Record<string, unknown>>;
  readonly evaluated?: number;
}

/** A server for ladders, which answers every prompt as it is told. */
export function startAnsweringServer(
  complete: (
    prompt: string,
    tokens: number,
  ) => Completion | "hangUp" | { readonly status: number; readonly body: unknown },
  replaced: Readonly<Record<string, Answer>> = {},
): Promise<StubServer> {
  return startHttpStub(
    goodAnswer({
      "/tokenize": (request, response) =>
        sendJson(response, { tokens: tokenize((request.json as { content: unknown }).content) }),
      "/apply-template": (request, response) => {
        const [message] = (request.json as { messages: { content: string }[] }).messages;
        sendJson(response, { prompt: `<u>${message?.content ?? ""}</u><a>` });
      },
      "/completion": (request, response) => {
        const { prompt } = request.json as { prompt: number[] };
        const answer = complete(prompt.map((id) => words[id] ?? "").join(""), prompt.length);
        if (answer === "hangUp") {
          response.destroy();
          return;
        }
        if ("status" in answer) {
          sendJson(response, answer.body, answer.status);
          return;
        }
        const n = answer.evaluated ?? prompt.length;
        response.writeHead(200, { "content-type": "text/event-stream" });
        const send = (event: object): void => void response.write(`data: ${JSON.stringify(event)}\n\n`);
        send({ prompt_progress: { total: n, cache: 0, processed: n, time_ms: 10 } });
        send({ content: answer.text, stop: false });
        send({
          content: "",
          stop: true,
          stop_type: "eos",
          truncated: false,
          timings: { cache_n: 0, prompt_n: n, prompt_ms: 10, predicted_n: 20, predicted_ms: 100 },
          ...answer.more,
        });
        response.end();
      },
      ...replaced,
    }),
  );
}

/** The answer of a model that recalls everything. */
export function recallAll(prompt: string): string {
  const entries = new Map(
    [...prompt.matchAll(/entry "([a-z]+-[a-z]+-\d\d)": "(\d{6})"/g)].map((m) => [m[1], m[2]]),
  );
  const skeleton = prompt.slice(prompt.lastIndexOf("{"));
  const asked = [...skeleton.matchAll(/"([a-z]+-[a-z]+-\d\d)"/g)].map((m) => m[1]);
  return JSON.stringify(Object.fromEntries(asked.map((key) => [key, entries.get(key)])));
}
