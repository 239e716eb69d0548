/** Places tensors in one growing buffer as ggml's graph allocator does (ggml-alloc.c `ggml_dyn_tallocr`): best fit first. */
export class BufferAllocator {
  private readonly offsets: number[] = [0];
  private readonly sizes: number[] = [Number.MAX_SAFE_INTEGER];
  /** Bytes the buffer must have. */
  highWater = 0;

  constructor(private readonly alignment: number) {}

  allocate(bytes: number): number {
    const size = this.aligned(bytes);
    const last = this.sizes.length - 1;
    let best = last;
    let bestSize = Infinity;
    for (let i = 0; i < last; i++) {
      const free = this.sizes[i] ?? 0;
      if (free >= size && free <= bestSize) {
        best = i;
        bestSize = free;
      }
    }
    const offset = this.offsets[best] ?? 0;
    const left = (this.sizes[best] ?? 0) - size;
    if (left === 0) {
      this.offsets.splice(best, 1);
      this.sizes.splice(best, 1);
    } else {
      this.offsets[best] = offset + size;
      this.sizes[best] = left;
    }
    if (offset + size > this.highWater) this.highWater = offset + size;
    return offset;
  }

  free(offset: number, bytes: number): void {
    const size = this.aligned(bytes);
    const { offsets, sizes } = this;
    let at = 0;
    while (at < offsets.length && (offsets[at] ?? 0) < offset) at++;
    const before = at - 1;
    const joinsBefore = before >= 0 && (offsets[before] ?? 0) + (sizes[before] ?? 0) === offset;
    const joinsAfter = at < offsets.length && offset + size === offsets[at];
    if (joinsBefore && joinsAfter) {
      sizes[before] = (sizes[before] ?? 0) + size + (sizes[at] ?? 0);
      offsets.splice(at, 1);
      sizes.splice(at, 1);
    } else if (joinsBefore) {
      sizes[before] = (sizes[before] ?? 0) + size;
    } else if (joinsAfter) {
      offsets[at] = offset;
      sizes[at] = (sizes[at] ?? 0) + size;
    } else {
      offsets.splice(at, 0, offset);
      sizes.splice(at, 0, size);
    }
  }

  private aligned(bytes: number): number {
    return Math.ceil(bytes / this.alignment) * this.alignment;
  }
}
