/** Watches the machine for four seconds; "measured" and a process id leave that process out. */
import { startMonitor } from "../../../src/node/monitor/monitor";

const monitor = startMonitor({ intervalSeconds: 0.3 });
if (process.argv[2] === "measured") monitor.measure(Number(process.argv[3]));
await new Promise((resolve) => setTimeout(resolve, 4000));
console.log(JSON.stringify(await monitor.stop()));
