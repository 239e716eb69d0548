/**
 * How many times as much processor time work on an input takes as ten times the work on a tenth of it, on whatever machine and
 * however busy: 1 where it grows with the input, 10 where it grows with its square.
 */
export function growth<T>(inputOf: (size: number) => T, work: (input: T) => void, size: number): number {
  const [whole, tenth] = [inputOf(size), inputOf(Math.round(size / 10))];
  let [ofWhole, ofTenths] = [Infinity, Infinity];
  // the least of some tries: others use the machine's caches, too
  for (let tries = 0; tries < 3; tries++) {
    ofTenths = Math.min(
      ofTenths,
      milliseconds(() => {
        for (let parts = 0; parts < 10; parts++) work(tenth);
      }),
    );
    ofWhole = Math.min(
      ofWhole,
      milliseconds(() => work(whole)),
    );
  }
  return ofWhole / ofTenths;
}

/** Of processor time, so that it does not count when others run. */
export function milliseconds(work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
