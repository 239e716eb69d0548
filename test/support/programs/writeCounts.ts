/** Keeps one count after the other in a cache folder, and says the number of each: file `N` has N tokens. */
import { openCountCache } from "../../../src/node/tokenizer/countCache";

const [, , folder = "", first = "0"] = process.argv;
const look = {};
for (let i = Number(first); ; i++) {
  const cache = await openCountCache({ folder, fingerprint: "f", now: () => Date.now() + 60_000 });
  const file = { path: `/${i}`, label: `${i}`, bytes: i, mtimeMs: 1, stamp: `${i} 1` };
  cache.keepFile(file, { kind: "counted", tokens: i, key: "k".repeat(1000), look });
  await cache.flush();
  console.log(i);
}
