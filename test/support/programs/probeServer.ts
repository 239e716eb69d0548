/** Probes a server and keeps what it measures in a history folder; says when it has a plan. */
import { probeAndRemember } from "../../../src/app/probe";
import { HistoryStore } from "../../../src/app/historyStore";

const [, , url = "", folder = ""] = process.argv;
await probeAndRemember(
  {
    url,
    launch: {},
    budgetSeconds: 120,
    onPlan: () => {
      console.log("planned");
    },
  },
  new HistoryStore(folder),
  new AbortController().signal,
);
