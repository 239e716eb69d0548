import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatText } from "../../../../src/core/format";
import { TemplateRenderer } from "../../../../src/node/template/templateRenderer";
import { UserError } from "../../../../src/core/userError";
import { buildWorker, type BuiltWorker } from "../../../support/builtWorker";

let worker: BuiltWorker;
let renderer: TemplateRenderer;
const signal = new AbortController().signal;

beforeAll(async () => {
  worker = await buildWorker("src/node/template/worker.ts");
  renderer = new TemplateRenderer(worker.file);
});
afterAll(() => worker.remove());

const render = (source: string, variables: Record<string, unknown> = {}): Promise<string> =>
  renderer.render({ source, variables, message: "Hi" }, signal);

async function problemOf(source: string): Promise<string> {
  const error: unknown = await render(source).catch((cause: unknown) => cause);
  if (!(error instanceof UserError)) throw new Error(`rendered or broken: ${String(error)}`);
  return formatText(error.problem);
}

describe("a chat template on its own thread", () => {
  // each prompt is what llama-server b11669 made of the template and one message "Hi"
  it.each([
    ["{{ bos_token }}{{ messages[0].role }}: {{ messages[0].content }}", {}, "user: Hi"],
    ["{% for m in messages %}\n{{ m.content }}\n{% endfor %}\n\n", {}, "Hi\n"],
    ["  {% if true %}\n   a\n  {% endif %}\n{{ messages[0].content }}  \n", {}, "   a\nHi  "],
    [
      "{{ messages[0].content[:1] }}{{ messages[0]['content'].split('i')[0] }}{{ messages[-1].role }}",
      {},
      "HHuser",
    ],
    [
      "{{ ['a','b'] | join(',') }}{{ messages[0].content in ['Hi'] }}{{ 'abc'.startswith('a') }}",
      {},
      "a,bTrueTrue",
    ],
    ["T={{ enable_thinking }} {{ messages[0].content }}", { enable_thinking: true }, "T=True Hi"],
    ["{{ reasoning_effort }}|{{ messages[0].content }}", { reasoning_effort: "high" }, "high|Hi"],
    [
      `{{ messages[0].content }}{{ messages | rejectattr("role", "equalto", "tool") | list | length }}`,
      {},
      "Hi1",
    ],
    ["{{ messages[0].content }}{{ messages | selectattr('content') | list | length }}", {}, "Hi1"],
    ["{% if add_generation_prompt %}{{ messages[0].content }}{% endif %}", {}, "Hi"],
    ["{% if tools is defined %}tools{% endif %}{{ messages[0].content }}", {}, "Hi"],
  ])("renders %s", async (source, variables, prompt) => {
    expect(await render(source, variables)).toBe(prompt);
  });

  it("gives content in parts where the template takes no text, as llama-server does", async () => {
    const source =
      "{% for m in messages %}{% for part in m.content %}{{ part.text }}{% endfor %}{% endfor %}";
    expect(await render(source)).toBe("Hi");
  });

  it("lets a template think only where llama.cpp's analysis of it finds reasoning", async () => {
    const told = "{{ messages[0].content }}{{ enable_thinking }}{% for m in messages %}";
    const shown = "{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}";
    expect(await render(`${told}${shown}{% endfor %}.`)).toBe("HiTrue.");
    expect(await render(`${told}{{ m.reasoning_content }}{% endfor %}.`)).toBe("HiFalse.");
    expect(await render(`${told}{% endfor %}.`)).toBe("HiFalse.");
  });

  it("ends what does not end, in words", async () => {
    const loop =
      "{% for a in range(1000) %}{% for b in range(1000) %}{% for c in range(1000) %}x{% endfor %}";
    expect(await problemOf(`${loop}{% endfor %}{% endfor %}`)).toMatch(
      // the second on a busy machine
      /does not come to an end|no result within/,
    );
    expect(await problemOf("{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}")).not.toBe("");
  });

  it("refuses what wants all memory", async () => {
    const doubled =
      "{% set ns = namespace(s='xxxxxxxxxx') %}{% for i in range(40) %}{% set ns.s = ns.s + ns.s %}";
    expect(await problemOf(`${doubled}{% endfor %}{{ ns.s }}`)).toContain("more than any context holds");
    expect(await problemOf("{% for i in range(1000000000) %}x{% endfor %}")).toContain("more than any");
    expect(await problemOf(`{{ "x" | indent(900000000, true) }}`)).toMatch(
      /more than any|string length|limit/i,
    );
    expect(await problemOf(`{{ ${"[".repeat(200_000)} }}`)).toMatch(/stack|memory/i);
  });

  it("says what the template raises, and what it has that is not known here", async () => {
    expect(await problemOf("{{ raise_exception('no system role') }}")).toContain("no system role");
    const needsTools =
      "{% if not tools %}{{ raise_exception('tools are required') }}{% endif %}{{ tools[0].name }}";
    expect(await problemOf(needsTools)).toContain("tools are required");
    expect(await problemOf("{{ tools[0].name }}{{ messages[0].content }}")).not.toBe("");
    expect(await problemOf("{{ messages }}{{ messages[0].content }}")).toContain("in its own way");
    // llama-server b11669 does not start with it: "selectattr: unknown test 'content'"
    const twoArguments = `{{ messages[0].content }}{{ messages | selectattr("content", "defined") | list | length }}`;
    expect(await problemOf(twoArguments)).toContain("selectattr with a test of one argument");
    expect(await problemOf("{{ messages | unknownfilter }}")).toContain("unknownfilter");
    expect(await problemOf("{% if %}")).not.toBe("");
    expect(await problemOf("{{ strftime_now('%Q') }}")).toContain("%Q");
  });

  it("gives up when nobody waits any more", async () => {
    const cancel = new AbortController();
    const rendering = renderer.render({ source: "{{ 1 }}", variables: {}, message: "" }, cancel.signal);
    cancel.abort();
    await expect(rendering).rejects.toBe(cancel.signal.reason);
  });
});
