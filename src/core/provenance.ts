/**
 * Where a figure comes from, best first: a process or run on this machine, llama.cpp's own word, our formula from the
 * model's header, a default.
 */
export type Provenance = "measured" | "reported" | "computed" | "assumed";
