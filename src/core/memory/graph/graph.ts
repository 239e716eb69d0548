import { BufferAllocator } from "./allocator";

/** Index of a tensor in its graph. */
export type Tensor = number;

interface Node {
  readonly bytes: number;
  readonly sources: readonly Tensor[];
  /** Root of the view, or -1. */
  readonly root: Tensor;
  readonly inPlace: boolean;
  readonly leaf: boolean;
  /** Lives outside: weights, the KV cache and views of them. */
  readonly outside: boolean;
  readonly backend: number;
}

/**
 * A compute graph as far as memory goes: sizes, what is read, views, and what may write over its input. Nodes are in the
 * order llama.cpp computes them.
 */
export class Graph {
  private readonly nodes: Node[] = [];
  /** Buffer new nodes are put in. */
  backend = 0;

  /** An input of the graph: allocated before all nodes, free after its last reader. */
  input(bytes: number): Tensor {
    return this.push({ bytes, sources: [], root: -1, inPlace: false, leaf: true, outside: false });
  }

  op(bytes: number, ...sources: readonly Tensor[]): Tensor {
    return this.push({ bytes, sources, root: -1, inPlace: false, leaf: false, outside: false });
  }

  /** Element-wise: takes the place of its first source of the same size that nobody else reads. */
  inPlace(bytes: number, ...sources: readonly Tensor[]): Tensor {
    return this.push({ bytes, sources, root: -1, inPlace: true, leaf: false, outside: false });
  }

  view(source: Tensor): Tensor {
    const node = this.nodes[source];
    const root = node === undefined || node.root < 0 ? source : node.root;
    return this.push({
      bytes: node?.bytes ?? 0,
      sources: [source],
      root,
      inPlace: false,
      leaf: false,
      outside: node?.outside === true,
    });
  }

  /** Writes into rows of `target`: a view of it that nobody reads, so that `target` is never freed. */
  storeInto(target: Tensor, ...sources: readonly Tensor[]): Tensor {
    const all = [...sources, target];
    return this.push({ bytes: 0, sources: all, root: target, inPlace: false, leaf: false, outside: false });
  }

  /** Writes its sources into the cache: reads only. */
  store(...sources: readonly Tensor[]): Tensor {
    return this.push({ bytes: 0, sources, root: -1, inPlace: false, leaf: false, outside: true });
  }

  bytesOf(tensor: Tensor): number {
    return this.nodes[tensor]?.bytes ?? 0;
  }

  private push(node: Omit<Node, "backend">): Tensor {
    this.nodes.push({ ...node, backend: this.backend });
    return this.nodes.length - 1;
  }

  /** Bytes of each backend's compute buffer (ggml-alloc.c `ggml_gallocr_alloc_graph_impl`). */
  reserve(alignments: readonly number[]): readonly number[] {
    const buffers = alignments.map((alignment) => new BufferAllocator(alignment));
    const { nodes } = this;
    const children = new Int32Array(nodes.length);
    const views = new Int32Array(nodes.length);
    const offset = new Float64Array(nodes.length);
    const allocated = new Uint8Array(nodes.length);
    for (const node of nodes) {
      if (node.root >= 0) views[node.root] = (views[node.root] ?? 0) + 1;
      for (const source of node.sources) children[source] = (children[source] ?? 0) + 1;
    }
    const place = (tensor: Tensor, node: Node): void => {
      if (allocated[tensor] === 1 || node.outside || node.root >= 0 || node.bytes === 0) return;
      allocated[tensor] = 1;
      if (node.inPlace) {
        for (const source of node.sources) {
          const parent = nodes[source];
          // a view is never owned by the allocator, so it is not written over
          if (parent === undefined || parent.root >= 0 || allocated[source] !== 1) continue;
          if (parent.bytes !== node.bytes) continue;
          if (parent.backend !== node.backend || children[source] !== 1 || views[source] !== 0) continue;
          offset[tensor] = offset[source] ?? 0;
          allocated[source] = 0;
          return;
        }
      }
      offset[tensor] = buffers[node.backend]?.allocate(node.bytes) ?? 0;
    };
    const release = (tensor: Tensor): void => {
      const node = nodes[tensor];
      if (node === undefined || allocated[tensor] !== 1) return;
      buffers[node.backend]?.free(offset[tensor] ?? 0, node.bytes);
      allocated[tensor] = 0;
    };
    const reading = new Uint8Array(nodes.length);
    nodes.forEach((node) => {
      for (const source of node.sources) {
        const leaf = nodes[source];
        if (leaf?.leaf === true && reading[source] === 0) {
          reading[source] = 1;
          place(source, leaf);
        }
      }
    });
    nodes.forEach((node, tensor) => {
      if (node.leaf) return;
      place(tensor, node);
      for (const source of node.sources) {
        const left = (children[source] ?? 0) - 1;
        children[source] = left;
        if (left !== 0 || views[source] !== 0) continue;
        const root = nodes[source]?.root ?? -1;
        if (root < 0) {
          release(source);
          continue;
        }
        views[root] = (views[root] ?? 0) - 1;
        if (views[root] === 0 && children[root] === 0) release(root);
      }
    });
    return buffers.map((buffer) => buffer.highWater);
  }
}
