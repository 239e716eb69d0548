import { inflateRawSync } from "node:zlib";

/** The text of a file in a ZIP archive. */
export function zipText(archive: Buffer, wanted: string): string {
  const end = archive.lastIndexOf("PK\x05\x06", undefined, "latin1");
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    const nameLength = archive.readUInt16LE(at + 28);
    if (archive.toString("utf8", at + 46, at + 46 + nameLength) === wanted) {
      const packed = archive.readUInt32LE(at + 20);
      const local = archive.readUInt32LE(at + 42);
      const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
      const bytes = archive.subarray(start, start + packed);
      return (archive.readUInt16LE(at + 10) === 8 ? inflateRawSync(bytes) : bytes).toString("utf8");
    }
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  throw new Error(`no ${wanted} in the archive`);
}
