import { count, say } from "../../text";
import { UserError } from "../../userError";

const remedy = () => say`Download or convert the model again.`;

/** A vocabulary array that is missing or cannot be what it says. */
export const broken = (key: string): UserError =>
  new UserError(
    "invalidInput",
    say`The model's vocabulary is broken: “${key}” is missing or unusable.`,
    remedy(),
  );

export const tooShort = (key: string, has: number, needs: number): UserError =>
  new UserError(
    "invalidInput",
    say`The model's vocabulary is broken: “${key}” has ${count(has)} entr[y|ies] for ${count(needs)} token[s].`,
    remedy(),
  );

/** llama.cpp does not load such a model. */
export const duplicateToken = (text: Uint8Array): UserError =>
  new UserError(
    "invalidInput",
    say`The model's vocabulary is broken: it contains the token “${new TextDecoder().decode(text)}” twice.`,
    remedy(),
  );

/** Text needs a byte token that the vocabulary does not have: llama.cpp fails on it. */
export const noByteToken = (byte: number): UserError =>
  new UserError(
    "invalidInput",
    say`The model's vocabulary has no token for the byte ${`0x${byte.toString(16).toUpperCase().padStart(2, "0")}`}.`,
    remedy(),
  );

/** Tokens as long as texts, or one character written as a book: no real vocabulary is near the limit. */
export const endlessVocabulary = (): UserError =>
  new UserError(
    "unsupported",
    say`Counting with this model's vocabulary takes too long: its tokens are not those of a real model.`,
    say`Choose another model file.`,
  );
