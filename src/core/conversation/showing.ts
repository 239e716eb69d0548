import type { ServerActivity } from "../bench/serverActivity";
import type { DepthCurve } from "../prefill/depthCurve";
import { logCurves } from "./logCurve";
import { ledgerOfProgram, shownConversation, type ShownConversation } from "./shownConversation";
import { SlotLedger } from "./slotLedger";
import { serverKey, type LedgerUpdate } from "./source";

/** Fewer points are no curve. */
const enoughPoints = 3;

interface KeptCurve {
  readonly upTo: number;
  readonly curve: DepthCurve | undefined;
}

/** Makes of what is known of a server's requests what surfaces show, and keeps what is made again only when there is more. */
export class Showing {
  /** Of each program: up to which request its curve was made. */
  private readonly curves = new Map<string, KeptCurve>();
  private slots: { readonly url: string; readonly ledger: SlotLedger } | undefined;

  /** `estimated`: the curve of the estimate, for a log that has none of its own yet. `now`: milliseconds since the epoch. */
  show(update: LedgerUpdate, now: number, estimated: DepthCurve | undefined): ShownConversation {
    return shownConversation(update, { now, curveOf: (name) => this.curveOf(update, name) ?? estimated });
  }

  /** What a server without a log was seen to do. */
  see(url: string, { slots = [], at }: ServerActivity, now: number): LedgerUpdate {
    if (this.slots?.url !== url) this.slots = { url, ledger: new SlotLedger() };
    const ledger = this.slots.ledger.see(slots, at);
    const startedAt = new Map([[serverKey({ start: 1 }), now - 1000 * at]]);
    return { source: { kind: "slots", url }, ledger, startedAt };
  }

  /** The log's own measurements. */
  private curveOf({ ledger, source }: LedgerUpdate, name: string | undefined): DepthCurve | undefined {
    if (ledger === undefined || source === undefined || source.kind === "slots") return undefined;
    const upTo = ledger.requests.at(-1)?.number ?? 0;
    const id = `${source.file} ${name ?? ""}`;
    let kept = this.curves.get(id);
    if (kept?.upTo !== upTo) {
      kept = { upTo, curve: logCurves(ledgerOfProgram(ledger, name)).at(-1) };
      this.curves.set(id, kept);
    }
    return kept.curve !== undefined && kept.curve.points.length >= enoughPoints ? kept.curve : undefined;
  }
}
