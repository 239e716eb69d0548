/** The names and sizes (bytes, unpacked) of the files in a ZIP archive, read from its central directory. */
export function zipEntries(archive: Buffer): Map<string, number> {
  const end = archive.lastIndexOf("PK\x05\x06", undefined, "latin1");
  if (end < 0) throw new Error("not a ZIP archive");
  const entries = new Map<string, number>();
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    const nameLength = archive.readUInt16LE(at + 28);
    const name = archive.toString("utf8", at + 46, at + 46 + nameLength);
    entries.set(name, archive.readUInt32LE(at + 24));
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return entries;
}
