import type { GgufHeader, MetadataValue, TensorInfo } from "../../../src/core/model/ggufHeader";
import { tensorBytes } from "../../../src/core/model/ggmlTypes";
import type { SeededRandom } from "../../support/seededRandom";

interface Draft {
  readonly architecture: string;
  readonly metadata: Map<string, MetadataValue>;
  tensors: TensorInfo[];
  vocabularySize: number | undefined;
}

/** Changes a header to that of a model nobody has; leaves it as it is where the model has nothing of the kind. */
type Change = (draft: Draft, random: SeededRandom) => void;

const changes: Readonly<Record<string, Change>> = {
  "fewer layers": (draft, random) => {
    const count = keyOf(draft, "block_count");
    const layers = draft.metadata.get(count);
    if (typeof layers !== "number" || draft.metadata.has(keyOf(draft, "nextn_predict_layers"))) return;
    const kept = Math.floor((layers * (50 + random.below(40))) / 100);
    for (const [key, value] of draft.metadata) {
      if (Array.isArray(value) && value.length === layers) draft.metadata.set(key, value.slice(0, kept));
    }
    draft.metadata.set(count, kept);
    draft.tensors = draft.tensors.filter(({ name }) => Number(/^blk\.(\d+)\./.exec(name)?.[1] ?? 0) < kept);
  },
  "another vocabulary": (draft, random) => {
    const { vocabularySize } = draft;
    if (vocabularySize === undefined) return;
    const size = 32 * Math.floor((vocabularySize * (30 + random.below(100))) / 3200);
    resize(draft, /token|output/, vocabularySize, size);
    draft.vocabularySize = size;
  },
  "another window": (draft, random) => {
    const key = keyOf(draft, "attention.sliding_window");
    if (typeof draft.metadata.get(key) === "number")
      draft.metadata.set(key, random.pick([256, 768, 2048, 8192]));
  },
  "fewer KV heads": (draft, random) => {
    const key = keyOf(draft, "attention.head_count_kv");
    const heads = draft.metadata.get(key);
    if (typeof heads !== "number" || heads < 2) return;
    const fewer = random.pick([1, 2]);
    draft.tensors = draft.tensors.map((tensor) => {
      const rows = tensor.shape.at(-1) ?? 0;
      if (!/attn_[kv]\.(weight|bias)/.test(tensor.name) || rows % heads !== 0) return tensor;
      return { ...tensor, shape: [...tensor.shape.slice(0, -1), (rows / heads) * fewer] };
    });
    draft.metadata.set(key, fewer);
  },
  "other weights": (draft, random) => {
    const type = random.pick([1, 2, 8, 14]);
    draft.tensors = draft.tensors.map((tensor) =>
      tensor.shape.length > 1 && tensor.type !== 0 && (tensor.shape[0] ?? 0) % 256 === 0
        ? { ...tensor, type }
        : tensor,
    );
  },
  "a tied output": (draft) => {
    draft.tensors = draft.tensors.filter(({ name }) => name !== "output.weight");
  },
};

const keyOf = ({ architecture }: Draft, name: string): string => `${architecture}.${name}`;

function resize(draft: Draft, names: RegExp, from: number, to: number): void {
  draft.tensors = draft.tensors.map((tensor) =>
    names.test(tensor.name)
      ? { ...tensor, shape: tensor.shape.map((side) => (side === from ? to : side)) }
      : tensor,
  );
}

/** One to three changes of a header; llama.cpp may refuse what comes of it. */
export function headerVariant(
  header: GgufHeader,
  random: SeededRandom,
): { readonly header: GgufHeader; readonly label: string } {
  const draft: Draft = {
    architecture: String(header.metadata.get("general.architecture")),
    metadata: new Map(header.metadata),
    tensors: [...header.tensors],
    vocabularySize: header.vocabularySize,
  };
  const names = Array.from({ length: 1 + random.below(3) }, () => random.pick(Object.keys(changes)));
  for (const name of names) changes[name]?.(draft, random);
  const tensors = draft.tensors.map((tensor) => ({
    ...tensor,
    bytes: tensorBytes(tensor.type, tensor.shape) ?? 0,
  }));
  const { vocabularySize } = draft;
  return {
    header: {
      ...header,
      metadata: draft.metadata,
      tensors,
      ...(vocabularySize !== undefined && { vocabularySize }),
    },
    label: names.join(", "),
  };
}
