import { stat } from "node:fs/promises";
import path from "node:path";
import type { Command } from "commander";
import { say } from "../core/text";
import { defaultWalkOptions, type WalkOptions } from "../core/files/files";
import { UserError } from "../core/userError";
import { wholeNumber } from "./arguments";

export interface WalkFlags {
  readonly exclude: readonly string[];
  readonly ignore: boolean;
  readonly followLinks?: true;
  readonly maxFileBytes: number;
}

/** Adds the options that say which files are meant. */
export function withWalkOptions(command: Command): Command {
  return command
    .option("--exclude <glob>", "exclude files; can be repeated", collect, [])
    .option("--no-ignore", "include what .gitignore and .llamagaugeignore exclude")
    .option("--follow-links", "include files outside of the given folders that links in them point to")
    .option("--max-file-bytes <n>", "skip larger files", wholeNumber, defaultWalkOptions.maxFileBytes);
}

export function walkOptions(flags: WalkFlags): WalkOptions {
  return {
    ...defaultWalkOptions,
    exclude: flags.exclude,
    useIgnoreFiles: flags.ignore,
    followLinks: flags.followLinks === true,
    maxFileBytes: flags.maxFileBytes,
    // as in an editor that has the current folder open: the same names, the same prompt
    workspaceFolders: [process.cwd()],
  };
}

/** Absolute paths of what was named; fails where one does not exist. */
export async function existing(paths: readonly string[]): Promise<readonly string[]> {
  return Promise.all(
    paths.map(async (name) => {
      const absolute = path.resolve(name);
      try {
        await stat(absolute);
      } catch (cause) {
        throw new UserError(
          "notFound",
          say`${name} does not exist.`,
          say`Specify an existing file or folder.`,
          {
            cause,
          },
        );
      }
      return absolute;
    }),
  );
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];
