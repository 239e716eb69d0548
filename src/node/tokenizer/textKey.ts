import { createHash } from "node:crypto";

/** Equal for equal texts. @param text a string, or its UTF-8 */
export const keyOf = (text: Uint8Array | string): string =>
  createHash("sha256").update(text).digest("base64url").slice(0, 24);
