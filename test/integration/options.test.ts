import path from "node:path";
import { execa } from "execa";
import { describe, expect, it } from "vitest";
import { parseArguments } from "../../src/core/launch/commandLine";
import type { ValueKind } from "../../src/core/launch/optionValue";
import { optionRowsBuild } from "../../src/core/launch/optionRows";
import { flagNames, serverOptions, type ServerOption } from "../../src/core/launch/serverOptions";
import { agreementTable } from "../support/agreement";
import { llamaProgram, runLlamaProgram } from "../support/llamaCpp";
import { repository } from "../support/repository";

/** Values each kind is tried with, besides a word that fits nowhere. */
function valuesFor(kind: ValueKind): readonly string[] {
  switch (kind.kind) {
    case "integer":
    case "unsigned":
      return ["-1", "0", "1", "3", "4", "7k", "99999999999", " 2", "+2", "0x10", ""];
    case "number":
      return ["-1", "0", "0.5", "1e-3", "1e50", "x1", "1,5", "inf", ""];
    case "exactNumbers":
      return ["1", "0.5", "-1", "1e-3", "1x", "1,0.5", "1,,1", "1,"];
    case "numbers":
    case "unsignedNumbers":
      return [
        "1",
        "3,1",
        "3/1",
        "1,,2",
        "1,2,",
        ",1",
        "a",
        Array(15).fill("1").join(),
        Array(16).fill("1").join(),
      ];
    case "choice":
      return [...kind.choices, kind.choices.map((choice) => choice.toUpperCase()).join(), ""];
    case "choices":
      return [...kind.choices, kind.choices.slice(1, 3).join(), `${kind.choices[1] ?? ""},`, ""];
    case "switch":
      return ["on", "off", "auto", "enabled", "disabled", "true", "false", "1", "0", "-1", "2", "ON", ""];
    case "layers":
      return ["auto", "all", "ALL", "-1", "-2", "99", "x"];
    case "overrides":
      return ["blk\\.0=CPU", "a=CPU,b=CPU", "=CPU", "CPU", "a=CPU,b"];
    case "keyValues":
      return [
        "a=int:5",
        "a=int:x",
        "a=bool:true",
        "a=bool:1",
        "a=str:x",
        "a=float:0.5,b=int:1",
        "a=u8:1",
        "=int:1",
      ];
    case "scaledFiles":
      return ["a:1", "a:1,b:0.5", "a:b", "a", "c:/a:1"];
    case "cpuMask":
      return ["f", "0xF", "0x", "g", ""];
    case "cpuRange":
      return ["0-1", "0-", "-", "1", "0-9999", "a-b"];
    case "logitBias":
      return ["15043+1", "15043-1.5", "15043+x", "a+1"];
    case "json":
      return ["{}", '{"type":"object"}', "{"];
    case "hosts":
      return ["127.0.0.1", "a,b", ",", ""];
    case "servers":
      return ["localhost", "localhost:x"];
    case "text":
    case "path":
    case "devices":
      return ["none"];
    case "flag":
    case "removed":
    case "two":
      return [];
  }
}

/** Whether these are accepted depends on files and devices of the machine, so only a wrong error of ours counts. */
const dependsOnMachine: ReadonlySet<string> = new Set([
  ...[
    "--device",
    "--device-draft",
    "--mmproj-device",
    "--slot-save-path",
    "--media-path",
    "--json-schema-file",
  ],
  ...["--grammar-file", "--webui-config-file", "--api-key-file", "--chat-template-file", "--cpu-mask"],
]);
/** Options that print something and end: nothing can be tried behind them. */
const endsAtOnce: ReadonlySet<string> = new Set([
  ...["--usage", "--version", "--cache-list", "--completion-bash", "--list-devices"],
]);

function casesOf(option: ServerOption): string[][] {
  if (endsAtOnce.has(option.name)) return [];
  if (option.value.kind === "flag") return [...option.names, ...option.negatives].map((name) => [name]);
  if (option.value.kind === "two") return [[option.name, "1", "2"]];
  const long = option.names.find((name) => name.startsWith("--")) ?? option.name;
  // every value where the product reads it, a good and a bad one elsewhere
  const values = option.effect === undefined ? [] : valuesFor(option.value);
  return [
    ...option.names.map((name) => [name, firstGood(option)]),
    ...["zzz", ...values].map((value) => [option.name, value]),
    [long.replaceAll("-", "_").replace(/^__/, "--"), firstGood(option)],
  ];
}

const firstGood = (option: ServerOption): string =>
  valuesFor(option.value).find((value) => value !== "" && value !== "-1" && value !== "0") ?? "1";

const wholeLines: readonly string[][] = [
  [],
  ["-c", "4096", "-c", "8192", "--ctx-size", "1"],
  ["-c"],
  ["-fa"],
  ["-fa", "-c", "1"],
  ["-fa", "on", "-ctk", "q8_0", "-ctv", "q8_0", "-ngl", "all", "-np", "4", "--no-kv-unified"],
  ["--ctx-size=4096"],
  ["-c=4096"],
  ["4096"],
  ["-c", "4096", "8192"],
  ["--mmap"],
  ["--no-mmap"],
  ["--mlock"],
  ["-dio"],
  ["--direct-io"],
  ["-ndio"],
  ["--no-direct-io"],
  ["-cd", "4096"],
  ["--ctx-size-draft", "4096"],
  ["--draft-max", "8"],
  ["--CTX-SIZE", "4096"],
  ["-C_TX", "1"],
  ["--no_kv_offload", "--no_repack"],
  ["--unknown"],
  ["--unknown", "value"],
  ["-"],
  ["--"],
  [""],
  ["---ctx-size", "1"],
  ["--control-vector-layer-range", "1"],
  ["-ot", "exps=CPU", "-ot", "attn=CPU"],
  ["--spec-type", "draft-mtp", "--spec-type", "ngram-mod"],
];

interface Judged {
  readonly argv: readonly string[];
  readonly rejected: boolean;
  readonly flagged: boolean;
  readonly said: string;
}

async function judge(argv: readonly string[]): Promise<Judged> {
  const { exitCode, stdout, stderr } = await runLlamaProgram("llama-server", [...argv, "--version"]);
  const flagged = parseArguments(argv).problems.some(({ severity }) => severity === "error");
  return { argv, rejected: exitCode !== 0, flagged, said: stderr + stdout };
}

/** Two at a time: that is what the machines that run this have. */
async function inPairs<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) results.push(await work(item));
  };
  await Promise.all([worker(), worker()]);
  return results;
}

describe("the option table and the real llama-server", () => {
  it("has every option of its help, under the same names, defaults and variables", async () => {
    const program = await llamaProgram("llama-server");
    const script = path.join(repository, "scripts/optionTable.mjs");
    const { stdout, stderr, exitCode } = await execa(process.execPath, [script, "--check", program], {
      reject: false,
    });
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: `${serverOptions.length} options of build ${optionRowsBuild}`,
      stderr: "",
      exitCode: 0,
    });
  });

  it("agrees with it about every option's names and values", async () => {
    const cases = serverOptions.flatMap((option) => casesOf(option));
    expect(cases.length).toBeGreaterThan(200);
    const judged = await inPairs(cases, judge);
    console.log(agreementTable("Options and values", judged));
    const wrong = judged.filter(({ argv, rejected, flagged }) => {
      const name = parseArguments([argv[0] ?? "", "1"]).given[0]?.option.name ?? "";
      return dependsOnMachine.has(name) ? flagged && !rejected : flagged !== rejected;
    });
    expect(wrong.map(({ argv, rejected, said }) => ({ argv, rejected, said: said.slice(0, 200) }))).toEqual(
      [],
    );
  }, 240_000);

  it("agrees with it about whole command lines", async () => {
    const judged = await inPairs(wholeLines, judge);
    console.log(agreementTable("Whole command lines", judged));
    const wrong = judged.filter(({ rejected, flagged }) => flagged !== rejected);
    expect(wrong.map(({ argv, rejected }) => ({ argv, rejected }))).toEqual([]);
  });

  it("knows each name once", () => {
    const all = serverOptions.flatMap(({ names, negatives }) => [...names, ...negatives]);
    expect(new Set(all).size).toBe(all.length);
    expect(flagNames.length).toBe(all.length);
  });
});
