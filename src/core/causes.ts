import { say, type Text } from "./text";

/** The one thing to change next; one at a time, or no cause can be named afterwards. */
export type Variable =
  "weights" | "kvCache" | "backend" | "placement" | "length" | "plan" | "load" | "nothing";

export interface Remedy {
  readonly advice: Text;
}

export interface Cause {
  readonly sentence: Text;
  readonly change: Variable;
  /** The best first. */
  readonly remedies: readonly Remedy[];
}

const quantisedCache: Remedy = {
  advice: say`Quantise the KV cache (-ctk q8_0 -ctv q8_0), which halves it.`,
};
export const smallerContext: Remedy = { advice: say`Set a smaller -c.` };
const smallerWeights: Remedy = { advice: say`Use a smaller quantisation of the weights.` };
const fewerLayers: Remedy = {
  advice: say`Put fewer layers on the full device (-ngl, -ts), or keep experts in main memory (--n-cpu-moe).`,
};
const otherSplit: Remedy = { advice: say`Change only the split (-ts) or the placement (-ngl, -ot).` };
const otherCache: Remedy = {
  advice: say`Keep model and hardware, and change only the KV cache type (-ctk, -ctv) or only the backend.`,
};
const largerContext: Remedy = {
  advice: say`Start the server with a larger -c, or with fewer slots (-np 1), if memory allows it.`,
};
const shorterPrompt: Remedy = { advice: say`Send less.` };
const quietMachine: Remedy = { advice: say`Stop the other load and run the same test again.` };
const repeats: Remedy = {
  advice: say`Repeat the same ladder three times, then lower the length until all three pass.`,
};
const template: Remedy = {
  advice: say`Check that the chat template and the sampling are the ones the model recommends.`,
};
const betterModel: Remedy = {
  advice: say`Try a larger model or a finer quantisation of the weights, and nothing else.`,
};
const importantEnds: Remedy = {
  advice: say`Put what matters at the start or the end, and exclude what is not needed (retrieval, parts, summaries).`,
};

/**
 * What makes long prompts fail, what is said about it and what is recommended, the same wherever it is found: by the
 * questions of the diagnosis, after a ladder, or in a log.
 */
export const causes = {
  weightsFill: {
    sentence: say`The weights leave hardly any memory for the KV cache.`,
    change: "weights",
    remedies: [smallerWeights, fewerLayers],
  },
  cacheFills: {
    sentence: say`The weights fit, but the KV cache needs more memory than they leave.`,
    change: "kvCache",
    remedies: [quantisedCache, smallerContext],
  },
  oneDeviceFull: {
    sentence: say`One device is full while another still has memory: devices are not one pool.`,
    change: "placement",
    remedies: [otherSplit],
  },
  cacheOrBackend: {
    sentence: say`A failure at a constant token count points to the KV cache type, the backend's implementation or the boundary of a contiguous region.`,
    change: "kvCache",
    remedies: [otherCache],
  },
  contextTooSmall: {
    sentence: say`The prompt is longer than one request may be.`,
    change: "length",
    remedies: [largerContext, shorterPrompt],
  },
  otherLoad: {
    sentence: say`Other programs or clients used the machine or the server meanwhile.`,
    change: "load",
    remedies: [quietMachine],
  },
  noMargin: {
    sentence: say`There is no margin: it is close to a limit, and small differences decide.`,
    change: "length",
    remedies: [repeats],
  },
  modelWeak: {
    sentence: say`The model recalls little of a short prompt already: the cause is not the length.`,
    change: "weights",
    remedies: [template, betterModel],
  },
  modelForgets: {
    sentence: say`The model itself does not handle such a length well.`,
    change: "length",
    remedies: [importantEnds],
  },
} as const satisfies Readonly<Record<string, Cause>>;

export type CauseName = keyof typeof causes;

export const adviceOn = (name: CauseName): readonly Text[] =>
  causes[name].remedies.map(({ advice }) => advice);

/** All that is recommended, in one text. */
export const remedyOf = (name: CauseName): Text => adviceOn(name).reduce((all, next) => say`${all} ${next}`);
