import { describe, expect, it } from "vitest";
import type { ListedFile, FileSource } from "../../../../src/core/files/files";
import { defaultWalkOptions, type FileRef } from "../../../../src/core/files/files";
import { overlayFiles, type UnsavedText } from "../../../../src/core/tokens/overlayFiles";

const ref = (label: string): FileRef => ({ path: `/w/${label}`, label, bytes: 7, mtimeMs: 5 });
const listed: readonly ListedFile[] = [
  { kind: "file", file: ref("a.ts") },
  { kind: "file", file: ref("b.ts") },
  { kind: "skipped", skipped: { path: "/w/c.bin", label: "c.bin", reason: "binary", folder: false } },
];
const onDisk: FileSource = {
  async *list() {
    yield* await Promise.resolve(listed);
  },
  read: ({ label }) => Promise.resolve({ kind: "text", text: `${label} on disk` }),
};
const never = new AbortController().signal;

async function listOf(source: FileSource): Promise<ListedFile[]> {
  const found: ListedFile[] = [];
  for await (const item of source.list(["/w"], defaultWalkOptions, never)) found.push(item);
  return found;
}

describe("overlayFiles", () => {
  it("gives what is on screen for changed files, and the rest from disk", async () => {
    const source = overlayFiles(onDisk, new Map<string, UnsavedText>([["/w/b.ts", { text: "changed" }]]));
    expect(await source.read(ref("a.ts"), never)).toEqual({ kind: "text", text: "a.ts on disk" });
    expect(await source.read(ref("b.ts"), never)).toEqual({ kind: "text", text: "changed" });
  });

  it("lists them with the size of what is on screen, as texts whose time says nothing", async () => {
    const text = "é 日 😀 \ud800 x";
    const source = overlayFiles(onDisk, new Map([["/w/b.ts", { text }]]));
    const [a, b, c] = await listOf(source);
    expect([a, c]).toEqual([listed[0], listed[2]]);
    const bytes = new TextEncoder().encode(text.replace("\ud800", "??")).length;
    expect(b).toEqual({ kind: "file", file: { ...ref("b.ts"), bytes, unsaved: true } });
  });

  it("adds no file that is not listed", async () => {
    const source = overlayFiles(onDisk, new Map([["/elsewhere/x.ts", { text: "x" }]]));
    expect(await listOf(source)).toEqual(listed);
  });
});
