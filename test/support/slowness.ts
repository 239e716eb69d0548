import { milliseconds } from "./growth";

/** What the work below takes on the machine that limits in milliseconds were set on. */
const usual = 14;

/** How many times as much processor time this machine takes as that one; never less than 1. A limit in milliseconds of it is multiplied by it. */
export function slowness(): number {
  const soonest = Math.min(...Array.from({ length: 10 }, () => milliseconds(someWork)));
  return Math.max(1, soonest / usual);
}

function someWork(): void {
  const words = Array.from(
    { length: 20_000 },
    (_, i) => `word ${(i * 7919) % 20_011} ${"x".repeat(i % 13)}`,
  ).sort();
  JSON.parse(JSON.stringify(words));
}
