import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { clearInterval, setInterval } from "node:timers";

/**
 * Runs a program; resolves with what it printed, seconds of wall and CPU, and the largest resident set (MiB), all with the
 * processes it started.
 */
export function measure(program, args, { input, env = process.env } = {}) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(program, args, { stdio: [input ? "pipe" : "ignore", "pipe", "pipe"], env });
    let peak = 0;
    const cpu = new Map();
    const watch = setInterval(() => {
      let resident = 0;
      for (const pid of withChildren(child.pid)) {
        const now = usage(pid);
        if (now === undefined) continue;
        resident += now.resident;
        cpu.set(pid, now.cpu);
      }
      peak = Math.max(peak, resident);
    }, 10);
    const out = [];
    const err = [];
    child.stdout.on("data", (data) => out.push(data));
    child.stderr.on("data", (data) => err.push(data));
    if (input) child.stdin.end(input);
    child.on("close", (code) => {
      clearInterval(watch);
      const text = Buffer.concat(out).toString();
      const wall = (performance.now() - started) / 1000;
      const total = Array.from(cpu.values()).reduce((sum, each) => sum + each, 0);
      if (code === 0) resolve({ text, wall, cpu: total, peak });
      else
        reject(
          new Error(`${program} ${args.join(" ")}: ${code}\n${Buffer.concat(err).toString().slice(-2000)}`),
        );
    });
  });
}

function withChildren(pid) {
  const found = [pid];
  for (const each of found) {
    try {
      for (const task of readdirSync(`/proc/${each}/task`)) {
        const children = readFileSync(`/proc/${each}/task/${task}/children`, "utf8").trim();
        if (children !== "") found.push(...children.split(" ").map(Number));
      }
    } catch {
      // it has ended
    }
  }
  return found;
}

function usage(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
    return {
      resident: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024,
      cpu: (Number(stat[11]) + Number(stat[12])) / 100,
    };
  } catch {
    return undefined;
  }
}
