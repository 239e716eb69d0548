const savedExtensions = ["svg", "png", "csv", "md"] as const;
export type SavedExtension = (typeof savedExtensions)[number];

/** One way of writing down what is saved; the reader chooses by the name of the file. */
export interface SavedFile {
  readonly extension: SavedExtension;
  readonly content: string | Uint8Array;
}

/** What the page wants saved, or undefined where it is nothing of ours. */
export function savedFile(value: unknown): SavedFile | undefined {
  if (typeof value !== "object" || value === null || !("extension" in value && "content" in value)) {
    return undefined;
  }
  const extension = savedExtensions.find((known) => known === value.extension);
  const { content } = value;
  const fine = typeof content === "string" || content instanceof Uint8Array;
  return extension !== undefined && fine ? { extension, content } : undefined;
}
