/** Runs at most `width` jobs at a time; the first failure stops what would follow. */
export class Bounded {
  private readonly running = new Set<Promise<void>>();
  private failure: { readonly error: unknown } | undefined;

  constructor(private readonly width: number) {}

  async add(job: () => Promise<void>): Promise<void> {
    while (this.running.size >= this.width) await Promise.race(this.running);
    this.throwIfFailed();
    const running = job()
      .catch((error: unknown) => {
        this.failure ??= { error };
      })
      .finally(() => this.running.delete(running));
    this.running.add(running);
  }

  async settled(): Promise<void> {
    await Promise.all(this.running);
  }

  throwIfFailed(): void {
    if (this.failure !== undefined) throw this.failure.error;
  }
}
