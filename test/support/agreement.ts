/** One input, judged by llama-server and by us. */
export interface Judged {
  readonly rejected: boolean;
  readonly flagged: boolean;
}

/** How often llama-server and we agree, for the log of the test run. */
export function agreementTable(what: string, judged: readonly Judged[]): string {
  const times = (rejected: boolean, flagged: boolean): string =>
    String(judged.filter((each) => each.rejected === rejected && each.flagged === flagged).length).padStart(
      8,
    );
  return [
    `${what}: ${judged.length}`,
    "                     an error to us   no error",
    `llama-server refuses        ${times(true, true)} ${times(true, false)}`,
    `llama-server accepts        ${times(false, true)} ${times(false, false)}`,
  ].join("\n");
}
