import { Environment, Interpreter, parse, tokenize } from "@huggingface/jinja";
import { strftime } from "./strftime";

type Program = ReturnType<typeof parse>;
type Value = ReturnType<Interpreter["evaluate"]>;

/** The largest template we know has 20 000 characters. */
const mostSource = 1 << 20;
/** Real ones take a few thousand for one message. */
const mostSteps = 300_000;
const mostCharacters = 4 << 20;
const mostItems = 100_000;

/** llama.cpp's settings of Jinja. */
export function parseTemplate(source: string): Program {
  if (source.length > mostSource) throw new Error("the template has more than a million characters");
  return parse(tokenize(source, { lstrip_blocks: true, trim_blocks: true }));
}

/** @throws whatever the template raises, and where it does more work than any template needs */
export function runTemplate(program: Program, variables: Readonly<Record<string, unknown>>): string {
  const environment = new Environment();
  for (const [name, value] of Object.entries({ ...globals, ...variables })) environment.set(name, value);
  const { value } = new BoundedInterpreter(environment).run(program);
  if (typeof value !== "string") throw new Error("the template makes no text");
  return value;
}

class BoundedInterpreter extends Interpreter {
  #steps = 0;

  override evaluate(...[statement, environment]: Parameters<Interpreter["evaluate"]>): Value {
    this.#steps += 1;
    if (this.#steps > mostSteps) throw new Error("the template does not come to an end");
    refuseTwoArguments(statement);
    const result = super.evaluate(statement, environment);
    const { value } = result;
    if (typeof value === "string" && value.length > mostCharacters) throw tooLarge();
    if (Array.isArray(value) && value.length > mostItems) throw tooLarge();
    return written(result);
  }
}

/**
 * `selectattr(name, test)` is a filter of Jinja that llama.cpp lacks: build 11669 ends at its start with "unknown test". It
 * knows `selectattr(name)` and `selectattr(name, test, value)`.
 */
function refuseTwoArguments(statement: unknown): void {
  const { type, filter } = (statement ?? {}) as { readonly type?: string; readonly filter?: FilterCall };
  if (type !== "FilterExpression" || filter?.args?.length !== 2) return;
  const name = filter.callee?.value;
  if (name === "selectattr" || name === "rejectattr")
    throw new Error(`the template calls ${name} with a test of one argument, which llama-server rejects`);
}

interface FilterCall {
  readonly callee?: { readonly value?: unknown };
  readonly args?: readonly unknown[];
}

/** Truth values are written as Python and llama.cpp write them; of lists and objects each writes its own. */
function written(result: Value): Value {
  if (result.type === "BooleanValue") result.toString = () => (result.value === true ? "True" : "False");
  if (result.type === "ArrayValue" || result.type === "ObjectValue" || result.type === "TupleValue") {
    result.toString = () => {
      throw new Error("the template writes a list or an object as text, which llama.cpp does in its own way");
    };
  }
  return result;
}

const tooLarge = (): Error => new Error("the template makes more than any context holds");

const globals = {
  ...{ true: true, false: false, none: null, True: true, False: false, None: null },
  raise_exception: (message: unknown): never => {
    throw new Error(String(message));
  },
  range: (...bounds: readonly number[]): number[] => {
    const [from = 0, to = 0, step = 1] = bounds.length === 1 ? [0, ...bounds] : bounds;
    const length = Math.max(0, Math.ceil((to - from) / step));
    // also where it is no number
    if (!(length <= mostItems)) throw tooLarge();
    return Array.from({ length }, (_, at) => from + at * step);
  },
  strftime_now: (format: string): string => strftime(new Date(), format),
};
