import { describe, expect, it } from "vitest";
import { templateVariables } from "../../../src/core/acceptance/templateSource";
import { explainLog } from "../../../src/core/logs/explainLog";
import { readLogLine } from "../../../src/core/logs/reading/logLine";
import { styleOf } from "../../../src/core/memory/graph/styles";
import { Wire } from "../../../src/core/wire";

/** Names that strangers choose, and every object of JavaScript has. */
describe.each(["constructor", "toString", "hasOwnProperty", "__proto__"])("the name %s", (name) => {
  it("is no name of a table of ours", () => {
    expect(styleOf(name)).toBe(styleOf("unheardOf"));
    const line = (level: string): unknown => readLogLine(JSON.stringify({ level, msg: "x" }), 1).level;
    expect(line(name)).toBe(line("unheardOf"));
    const fact = (key: string): unknown => explainLog(`print_info: ${key} = 5\n`).facts.model;
    expect(fact(name)).toEqual(fact("unheardOf"));
  });

  it("is no field of what was sent without it, and one of what was sent with it", () => {
    expect(Wire.ofJson("{}", "")?.at(name).absent).toBe(true);
    const variables = templateVariables({ chatTemplateKwargs: [`{"${name}": {"enable_thinking": false}}`] });
    expect(Object.keys(variables)).toEqual([name]);
    expect("enable_thinking" in variables).toBe(false);
  });
});
