/** The build puts the package's in its place. */
export const version = process.env["LLAMA_GAUGE_VERSION"] ?? "unbuilt";
