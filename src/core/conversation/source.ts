import type { Text } from "../text";
import type { Ledger } from "./ledger";

/** Where what is known of a server's requests comes from. */
export type ConversationSource =
  /** The user's choice. */
  | { readonly kind: "chosenLog"; readonly file: string }
  /** The log of a server that was started from here. */
  | { readonly kind: "ownLog"; readonly file: string; readonly url: string }
  /** What `--log-file` says in the command line of a running server. */
  | { readonly kind: "commandLine"; readonly file: string; readonly url?: string }
  /** `/slots` of a server without a log that can be read. */
  | { readonly kind: "slots"; readonly url: string };

/** What is known of a server's requests now. */
export interface LedgerUpdate {
  /** Absent: no log was found. */
  readonly source?: ConversationSource;
  readonly ledger?: Ledger;
  /** Why the source cannot be read, as it was read before. */
  readonly problem?: { readonly problem: Text; readonly remedy: Text };
  /** Starts of servers in milliseconds since the epoch, where they are known; see `serverKey`. */
  readonly startedAt?: ReadonlyMap<string, number>;
}

/** Names one start of one server of a log. */
export const serverKey = ({
  source = "",
  start,
}: {
  readonly source?: string;
  readonly start: number;
}): string => `${start} ${source}`;
