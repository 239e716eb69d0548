/** What share of a core watching the machine takes, once it has begun. */
import { startMonitor } from "../../../src/node/monitor/monitor";

const monitor = startMonitor();
await new Promise((resolve) => setTimeout(resolve, 3000));
const before = process.cpuUsage();
const start = performance.now();
await new Promise((resolve) => setTimeout(resolve, 12_000));
const { user, system } = process.cpuUsage(before);
console.log((user + system) / 1000 / (performance.now() - start));
await monitor.stop();
