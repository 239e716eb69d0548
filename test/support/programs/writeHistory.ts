/** Writes one record after the other to a history folder, and says the number of each. */
import { HistoryStore } from "../../../src/app/historyStore";

const [, , folder = "", name = ""] = process.argv;
const store = new HistoryStore(folder);
for (let i = 0; ; i++) {
  await store.append({
    version: 1,
    id: `${name}${i}`,
    kind: "probe",
    at: i,
    tool: "t",
    raw: "x".repeat(200_000),
  });
  console.log(i);
}
