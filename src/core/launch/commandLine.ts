import { removedOption, unknownOption } from "../causes/startCauses";
import { foreignOption } from "./foreignNames";
import { say, type Text } from "../text";
import { ClosestNames } from "./closestName";
import type { LaunchOptions, OptionOrigin } from "./launchOptions";
import { LaunchBuilder, type GivenOption } from "./launchBuilder";
import { checkValue, falsy, truthy } from "./optionValue";
import { renamedOption, type RenamedOption } from "./renamedOptions";
import { flagNames, negativeEnv, normalFlag, optionOfFlag, serverOptions } from "./serverOptions";

export type LaunchProblemCode =
  | "unknownOption"
  | "unexpectedArgument"
  | "missingValue"
  | "badValue"
  | "trailingText"
  | "removedOption"
  | "equalsForm"
  | "bareFlashAttn"
  | "repeatedOption"
  | "badVariable"
  | "unknownVariable";

/** What llama-server would refuse (error) or do otherwise than it looks (warning). */
export interface LaunchProblem {
  readonly code: LaunchProblemCode;
  readonly severity: "error" | "warning";
  readonly message: Text;
  /** Index into the arguments; absent for environment variables. */
  readonly argument?: number;
  /** The environment variable it is about. */
  readonly variable?: string;
  /** What to write in place of that argument. */
  readonly instead?: readonly string[];
}

export interface ParsedLaunch {
  readonly options: LaunchOptions;
  /** Where each launch option came from. */
  readonly origins: ReadonlyMap<keyof LaunchOptions, OptionOrigin>;
  /** Every option that was given, also those without a launch option; secrets masked. */
  readonly given: readonly GivenOption[];
  readonly problems: readonly LaunchProblem[];
}

export interface ParseSettings {
  /** Build of the server the command line is for; the newest known where absent. */
  readonly build?: number;
}

/**
 * Reads the arguments of llama-server (without the program's name) as llama-server does: environment first, then the
 * arguments, the last value of an option counts. Never fails: what llama-server would refuse is a problem, and the rest
 * is read on. Beyond llama-server, `--name=value` is understood (and reported), and so are names of older builds.
 */
export function parseArguments(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
  settings: ParseSettings = {},
): ParsedLaunch {
  const parser = new ArgumentParser(settings);
  parser.readEnvironment(env);
  parser.readArguments(argv);
  return parser.result();
}

class ArgumentParser {
  private readonly builder = new LaunchBuilder();
  private readonly problems: LaunchProblem[] = [];
  private readonly closestFlags = new ClosestNames(() => flagNames);

  constructor(private readonly settings: ParseSettings) {}

  result(): ParsedLaunch {
    return { ...this.builder.result(), problems: this.problems };
  }

  readEnvironment(env: Readonly<Record<string, string | undefined>>): void {
    const known = new Set<string>();
    for (const option of serverOptions) {
      if (option.env === undefined) continue;
      const negative = negativeEnv(option);
      known.add(option.env);
      if (negative !== undefined) known.add(negative);
      const off = negative !== undefined && env[negative] !== undefined;
      const variable = off ? negative : option.env;
      const value = off ? "0" : env[option.env];
      if (value === undefined) continue;
      const origin: OptionOrigin = { kind: "environment", variable };
      if (option.value.kind === "flag") {
        if (option.negatives.length > 0 && !truthy.includes(value) && !falsy.includes(value)) {
          this.problems.push({
            code: "badVariable",
            severity: "error",
            message: say`${variable} must be on or off, not ${`"${value}"`}.`,
            variable,
          });
        } else if (truthy.includes(value)) this.builder.add(option, "", true, origin);
        else if (option.negatives.length > 0) this.builder.add(option, "", false, origin);
        continue;
      }
      if (option.value.kind === "removed") {
        this.problems.push({
          code: "badVariable",
          severity: "error",
          message: say`${variable} is no longer supported: llama-server stops with an error.`,
          variable,
        });
        continue;
      }
      const problem = checkValue(option.value, value);
      if (problem !== undefined) {
        const code = problem.severity === "error" ? "badVariable" : problem.code;
        const message = say`${variable}: ${problem.message}`;
        this.problems.push({ code, severity: problem.severity, message, variable });
      }
      if (problem?.severity !== "error") this.builder.add(option, value, true, origin);
    }
    this.reportUnknownVariables(env, known);
  }

  private reportUnknownVariables(
    env: Readonly<Record<string, string | undefined>>,
    known: ReadonlySet<string>,
  ): void {
    const names = [...known];
    const closest = new ClosestNames(() => names);
    for (const variable of Object.keys(env)) {
      if (!variable.startsWith("LLAMA_ARG_") || known.has(variable) || env[variable] === undefined) continue;
      const close = closest.of(variable);
      const message =
        close === undefined
          ? say`llama-server does not read the variable ${variable}.`
          : say`llama-server does not read the variable ${variable}; did you mean ${close}?`;
      this.problems.push({ code: "unknownVariable", severity: "warning", message, variable });
    }
  }

  readArguments(argv: readonly string[]): void {
    const seen = new Set<string>();
    for (let index = 0; index < argv.length;) {
      const word = argv[index] ?? "";
      const flag = normalFlag(word);
      if (seen.has(flag) && optionOfFlag(flag) !== undefined && flag !== "--spec-type") {
        const message = say`${word} is given more than once; the last value is used.`;
        this.problems.push({ code: "repeatedOption", severity: "warning", message, argument: index });
      }
      seen.add(flag);
      index += this.readArgument(argv, index, flag);
    }
  }

  /** Number of arguments used up. */
  private readArgument(argv: readonly string[], index: number, flag: string): number {
    const renamed = renamedOption(flag);
    if (renamed !== undefined && !this.isStillTaken(renamed)) return this.readRenamed(argv, index, renamed);
    if (renamed !== undefined && optionOfFlag(flag) === undefined)
      return this.readOldName(argv, index, renamed);
    const named = optionOfFlag(flag);
    if (named === undefined) return this.readUnknown(argv, index);
    const { option, negative } = named;
    const origin: OptionOrigin = { kind: "commandLine", flag: argv[index] ?? flag };
    if (option.value.kind === "flag") {
      this.builder.add(option, "", !negative, origin, index);
      return 1;
    }
    const value = argv[index + 1];
    if (
      option.name === "--flash-attn" &&
      (value === undefined || checkValue(option.value, value) !== undefined)
    ) {
      if (value === undefined || value.startsWith("-")) {
        const message = say`${flag} needs a value: on, off or auto. Builds before b6325 accepted it without one, meaning on.`;
        const instead = [argv[index] ?? flag, "on"];
        this.problems.push({ code: "bareFlashAttn", severity: "error", message, argument: index, instead });
        this.builder.add(option, "on", true, origin, index);
        return 1;
      }
    }
    if (value === undefined) {
      const message = say`${argv[index] ?? flag} needs a value.`;
      this.problems.push({ code: "missingValue", severity: "error", message, argument: index });
      return 1;
    }
    if (option.value.kind === "two") {
      if (argv[index + 2] === undefined) {
        const message = say`${argv[index] ?? flag} needs two values.`;
        this.problems.push({ code: "missingValue", severity: "error", message, argument: index });
      }
      this.builder.add(option, `${value} ${argv[index + 2] ?? ""}`, true, origin, index);
      return 3;
    }
    const problem = checkValue(option.value, value);
    if (problem !== undefined) {
      const message = say`${argv[index] ?? flag}: ${problem.message}`;
      this.problems.push({ code: problem.code, severity: problem.severity, message, argument: index + 1 });
    }
    if (problem?.severity !== "error") this.builder.add(option, value, true, origin, index);
    return 2;
  }

  private isStillTaken(renamed: RenamedOption): boolean {
    const { build } = this.settings;
    return build !== undefined && renamed.refusedBy !== undefined && build < renamed.refusedBy;
  }

  private readRenamed(argv: readonly string[], index: number, renamed: RenamedOption): number {
    const word = argv[index] ?? "";
    const value = renamed.takesValue ? argv[index + 1] : undefined;
    const instead = [
      ...renamed.instead,
      ...(value === undefined || renamed.instead.length === 0 ? [] : [value]),
    ];
    const message = removedOption(word, instead.length === 0 ? undefined : instead.join(" "));
    this.problems.push({ code: "removedOption", severity: "error", message, argument: index, instead });
    this.addInstead(instead, word, index);
    return renamed.takesValue ? 2 : 1;
  }

  private readOldName(argv: readonly string[], index: number, renamed: RenamedOption): number {
    const value = renamed.takesValue ? argv[index + 1] : undefined;
    this.addInstead([...renamed.instead, ...(value === undefined ? [] : [value])], argv[index] ?? "", index);
    return renamed.takesValue ? 2 : 1;
  }

  private addInstead([flag, value]: readonly string[], word: string, index: number): void {
    const named = flag === undefined ? undefined : optionOfFlag(flag);
    if (named === undefined || (value !== undefined && checkValue(named.option.value, value) !== undefined))
      return;
    this.builder.add(named.option, value ?? "", !named.negative, { kind: "commandLine", flag: word }, index);
  }

  private readUnknown(argv: readonly string[], index: number): number {
    const word = argv[index] ?? "";
    const equals = word.indexOf("=");
    const named = equals > 0 ? optionOfFlag(word.slice(0, equals)) : undefined;
    if (named !== undefined) {
      const [flag, value] = [word.slice(0, equals), word.slice(equals + 1)];
      const message = say`llama-server does not accept the form ${flag}=…; use a space instead of the equals sign.`;
      const problem = { code: "equalsForm", severity: "error", message, argument: index } as const;
      this.problems.push({ ...problem, instead: named.option.secret ? [flag] : [flag, value] });
      const refused = checkValue(named.option.value, value);
      if (refused?.severity !== "error" && named.option.value.kind !== "flag") {
        this.builder.add(named.option, value, true, { kind: "commandLine", flag }, index);
      } else if (refused !== undefined) {
        const text = say`${flag}: ${refused.message}`;
        this.problems.push({ code: refused.code, severity: "error", message: text, argument: index });
      }
      return 1;
    }
    if (!word.startsWith("-")) {
      const message = say`${word} does not belong to any option.`;
      this.problems.push({ code: "unexpectedArgument", severity: "error", message, argument: index });
      return 1;
    }
    // a mistyped --api-key=… must not show its value
    const shown = equals > 0 ? word.slice(0, equals) : word;
    const meant = foreignOption(shown);
    const close = meant === undefined ? this.closestFlags.of(shown) : `--${meant}`;
    this.problems.push({
      code: "unknownOption",
      severity: "error",
      message: unknownOption(shown, close),
      argument: index,
      ...(close === undefined ? {} : { instead: [close] }),
    });
    // a word behind an unknown option is most likely its value
    const next = argv[index + 1];
    return next !== undefined && !next.startsWith("-") ? 2 : 1;
  }
}
