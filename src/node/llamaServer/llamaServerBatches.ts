export interface BatchItem {
  /** Place in the list of texts. */
  readonly index: number;
  readonly text: string;
  readonly bytes: number;
}

export interface Batch {
  readonly items: readonly BatchItem[];
  readonly bytes: number;
}

/** Small enough that a cancel waits for little, large enough that the requests themselves cost nothing. */
const batchBytes = 256 * 1024;
const batchItems = 512;

/** Puts texts into requests in their order. A text is never divided; a long one goes alone; an empty one is left out. */
export function planBatches(texts: readonly string[]): Batch[] {
  const batches: Batch[] = [];
  let items: BatchItem[] = [];
  let bytes = 0;
  const close = (): void => {
    if (items.length > 0) batches.push({ items, bytes });
    items = [];
    bytes = 0;
  };
  texts.forEach((text, index) => {
    if (text === "") return;
    const size = Buffer.byteLength(text);
    if (bytes + size > batchBytes || items.length === batchItems) close();
    items.push({ index, text, bytes: size });
    bytes += size;
  });
  close();
  return batches;
}
