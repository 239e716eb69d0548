/** An option llama-server no longer takes, or takes in another form than it once did. */
export interface RenamedOption {
  /** Old names with dashes. */
  readonly names: readonly string[];
  readonly takesValue: boolean;
  /** What to write today; empty where nothing replaces it. */
  readonly instead: readonly string[];
  /** Build that brought the replacement. */
  readonly since?: number;
  /** First build known to refuse the old name; it may have gone a little earlier. */
  readonly refusedBy?: number;
}

// Builds: history of common/arg.cpp up to b10470, and what b11669 refuses.
const renamedOptions: readonly RenamedOption[] = [
  { names: ["--mmap"], takesValue: false, instead: ["--load-mode", "mmap"], since: 10105, refusedBy: 11669 },
  {
    names: ["--no-mmap"],
    takesValue: false,
    instead: ["--load-mode", "none"],
    since: 10105,
    refusedBy: 11669,
  },
  {
    names: ["--mlock"],
    takesValue: false,
    instead: ["--load-mode", "mlock"],
    since: 10105,
    refusedBy: 11669,
  },
  {
    names: ["-dio", "--direct-io"],
    takesValue: false,
    instead: ["--load-mode", "dio"],
    since: 10105,
    refusedBy: 11669,
  },
  {
    names: ["-ndio", "--no-direct-io"],
    takesValue: false,
    instead: ["--load-mode", "auto"],
    since: 10105,
    refusedBy: 11669,
  },
  { names: ["--draft", "--draft-n", "--draft-max"], takesValue: true, instead: ["--spec-draft-n-max"] },
  { names: ["--draft-min", "--draft-n-min"], takesValue: true, instead: ["--spec-draft-n-min"] },
  { names: ["-cd", "--ctx-size-draft"], takesValue: true, instead: [] },
  { names: ["--spec-ngram-size-n"], takesValue: true, instead: ["--spec-ngram-simple-size-n"] },
  { names: ["--spec-ngram-size-m"], takesValue: true, instead: ["--spec-ngram-simple-size-m"] },
  { names: ["--spec-ngram-min-hits"], takesValue: true, instead: ["--spec-ngram-simple-min-hits"] },
];

const byName = new Map(
  renamedOptions.flatMap((option) => option.names.map((name) => [name, option] as const)),
);

export function renamedOption(flag: string): RenamedOption | undefined {
  return byName.get(flag);
}
