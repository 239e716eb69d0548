import { packedAt } from "../../model/tokenizerSpec";
import type { CompiledVocabulary } from "./compiledVocabulary";
import { settingsOf } from "./vocabularyDefaults";

/** Texts of the tokens that begin and end a prompt, and whether tokenizing adds them. */
export interface PromptEnds {
  readonly bos: string;
  readonly eos: string;
  readonly addBos: boolean;
  readonly addEos: boolean;
}

/** What `bos_token` and `eos_token` are in a chat template; empty where no token is cut out of texts under its id. */
export function promptEnds({ keys, specials }: Pick<CompiledVocabulary, "keys" | "specials">): PromptEnds {
  const { bos, eos, addBos, addEos } = settingsOf(keys);
  const text = (id: number): string => {
    const at = specials.ids.indexOf(id);
    return at < 0 ? "" : new TextDecoder().decode(packedAt(specials.texts, at).slice());
  };
  return { bos: text(bos), eos: text(eos), addBos, addEos };
}
