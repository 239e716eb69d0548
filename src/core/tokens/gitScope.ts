/**
 * What changed in a repository. `workingTree`: everything that differs from the last commit, untracked files included;
 * `staged`: what the next commit would hold; `branch`: what this branch adds to where it left `base`.
 */
export type GitScope =
  | { readonly kind: "workingTree" }
  | { readonly kind: "staged" }
  /** Without `base`: the remote's default branch, else main or master. */
  | { readonly kind: "branch"; readonly base?: string };

export interface GitChanges {
  readonly repository: string;
  /** Absolute paths of the files that are there; deleted ones appear in the diff only. */
  readonly files: readonly string[];
  /** What it is compared with, for people: "HEAD", "main (1a2b3c4)". */
  readonly against: string;
}
