import { BufferAllocator } from "./allocator";

/** Index of a tensor in its graph. */
export type Tensor = number;

const inPlaceFlag = 1;
const leafFlag = 2;
/** Lives outside: the KV cache and states. */
const outsideFlag = 4;
const noRoot = -1;

interface Shape {
  readonly roots: Int32Array;
  readonly flags: Uint8Array;
  readonly backends: Uint8Array;
  readonly starts: Int32Array;
  readonly sources: Int32Array;
}

const equal = (one: Int32Array | Uint8Array, other: Int32Array | Uint8Array): boolean =>
  one.length === other.length && one.every((value, i) => value === other[i]);

/**
 * A compute graph as far as memory goes: sizes, what is read, views, and what may write over its input. Nodes are in the
 * order llama.cpp computes them. One array for each property: a graph is built and thrown away at every move of a slider.
 */
export class Graph {
  private readonly bytes: number[] = [];
  /** What a view is a view of. */
  private readonly roots: Tensor[] = [];
  private readonly flags: number[] = [];
  private readonly backends: number[] = [];
  private readonly firstSource: number[] = [];
  private readonly sources: Tensor[] = [];
  private fixed: Shape | undefined;
  /** Buffer new nodes are put in. */
  backend = 0;

  /** An input of the graph: allocated before all nodes, free after its last reader. */
  input(bytes: number): Tensor {
    return this.push(bytes, noRoot, leafFlag, []);
  }

  op(bytes: number, ...sources: readonly Tensor[]): Tensor {
    return this.push(bytes, noRoot, 0, sources);
  }

  /** Element-wise: takes the place of its first source of the same size that nobody else reads. */
  inPlace(bytes: number, ...sources: readonly Tensor[]): Tensor {
    return this.push(bytes, noRoot, inPlaceFlag, sources);
  }

  view(source: Tensor): Tensor {
    const root = this.roots[source] ?? noRoot;
    const flags = (this.flags[source] ?? 0) & outsideFlag;
    return this.push(this.bytesOf(source), root === noRoot ? source : root, flags, [source]);
  }

  /** A view of a part of `source`. */
  part(source: Tensor, bytes: number): Tensor {
    const view = this.view(source);
    this.bytes[view] = bytes;
    return view;
  }

  /** Writes into rows of `target`: a view of it that nobody reads, so that `target` is never freed. */
  storeInto(target: Tensor, ...sources: readonly Tensor[]): void {
    this.push(0, target, 0, [...sources, target]);
  }

  /** Writes its sources into the cache: reads only. */
  store(...sources: readonly Tensor[]): void {
    this.push(0, noRoot, outsideFlag, sources);
  }

  bytesOf(tensor: Tensor): number {
    return this.bytes[tensor] ?? 0;
  }

  private push(bytes: number, root: Tensor, flags: number, sources: readonly Tensor[]): Tensor {
    this.fixed = undefined;
    this.bytes.push(bytes);
    this.roots.push(root);
    this.flags.push(flags);
    this.backends.push(this.backend);
    this.firstSource.push(this.sources.length);
    for (const source of sources) this.sources.push(source);
    return this.bytes.length - 1;
  }

  /** What does not change when the same graph is reserved with other sizes. */
  private shape(): Shape {
    return (this.fixed ??= {
      roots: Int32Array.from(this.roots),
      flags: Uint8Array.from(this.flags),
      backends: Uint8Array.from(this.backends),
      starts: Int32Array.from([...this.firstSource, this.sources.length]),
      sources: Int32Array.from(this.sources),
    });
  }

  /** Sizes of all tensors, for `reserve`. */
  sizes(): Float64Array {
    return Float64Array.from(this.bytes);
  }

  /** Whether `other` differs in sizes only. */
  isShapedLike(other: Graph): boolean {
    const [mine, its] = [this.shape(), other.shape()];
    return (
      equal(mine.roots, its.roots) &&
      equal(mine.flags, its.flags) &&
      equal(mine.backends, its.backends) &&
      equal(mine.starts, its.starts) &&
      equal(mine.sources, its.sources)
    );
  }

  /** Bytes of each backend's compute buffer (ggml-alloc.c `ggml_gallocr_alloc_graph_impl`), with the graph's own sizes or others. */
  reserve(alignments: readonly number[], bytes: Float64Array = this.sizes()): readonly number[] {
    const buffers = alignments.map((alignment) => new BufferAllocator(alignment));
    const count = this.bytes.length;
    const { roots, flags, backends, starts, sources } = this.shape();
    const children = new Int32Array(count);
    const views = new Int32Array(count);
    const offsets = new Float64Array(count);
    const allocated = new Uint8Array(count);

    const at = (array: Int32Array | Uint8Array | Float64Array, index: number): number => array[index] ?? 0;
    const place = (tensor: Tensor): void => {
      const size = at(bytes, tensor);
      if (allocated[tensor] === 1 || size === 0 || roots[tensor] !== noRoot) return;
      if ((at(flags, tensor) & outsideFlag) !== 0) return;
      allocated[tensor] = 1;
      const backend = at(backends, tensor);
      if ((at(flags, tensor) & inPlaceFlag) !== 0) {
        for (let i = at(starts, tensor); i < at(starts, tensor + 1); i++) {
          const source = at(sources, i);
          // a view is never owned by the allocator, so it is not written over
          if (roots[source] !== noRoot || allocated[source] !== 1 || bytes[source] !== size) continue;
          if (backends[source] !== backend || children[source] !== 1 || views[source] !== 0) continue;
          offsets[tensor] = at(offsets, source);
          allocated[source] = 0;
          return;
        }
      }
      offsets[tensor] = buffers[backend]?.allocate(size) ?? 0;
    };
    const release = (tensor: Tensor): void => {
      if (allocated[tensor] !== 1) return;
      buffers[at(backends, tensor)]?.free(at(offsets, tensor), at(bytes, tensor));
      allocated[tensor] = 0;
    };

    for (let tensor = 0; tensor < count; tensor++) {
      const root = at(roots, tensor);
      if (root !== noRoot) views[root] = at(views, root) + 1;
    }
    for (const source of sources) {
      children[source] = at(children, source) + 1;
      if ((at(flags, source) & leafFlag) !== 0) place(source);
    }
    for (let tensor = 0; tensor < count; tensor++) {
      if ((at(flags, tensor) & leafFlag) !== 0) continue;
      place(tensor);
      for (let i = at(starts, tensor); i < at(starts, tensor + 1); i++) {
        const source = at(sources, i);
        const left = at(children, source) - 1;
        children[source] = left;
        if (left !== 0 || views[source] !== 0) continue;
        const root = at(roots, source);
        if (root === noRoot) {
          release(source);
          continue;
        }
        views[root] = at(views, root) - 1;
        if (views[root] === 0 && children[root] === 0) release(root);
      }
    }
    return buffers.map((buffer) => buffer.highWater);
  }
}
