/** A question that a coding agent may ask. The texts are read by models, so they are English whatever the editor speaks. */
export interface AgentTool {
  readonly name: AgentToolName;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: { readonly type: "object"; readonly [keyword: string]: unknown };
}

export type AgentToolName = "estimate_context" | "plan_to_fit" | "server_state" | "forecast";

/** Names of files and folders in one question; whoever has more names a folder. */
export const mostPaths = 200;

const paths = {
  type: "array",
  items: { type: "string" },
  minItems: 1,
  maxItems: mostPaths,
  description:
    'Files and folders, relative to the workspace or absolute. A folder stands for everything in it that is not ignored; "." is the whole workspace.',
};
const details = {
  type: "boolean",
  description: "List up to 100 files instead of the most important ones.",
};

export const agentTools: readonly AgentTool[] = [
  {
    name: "estimate_context",
    title: "Estimate context cost",
    description:
      "Before sending files to the local llama-server: counts their tokens with the model's own tokenizer and tells whether they fit into one request, whether the memory is enough, how long the prompt takes to read, and which files are the largest. Reads files only; sends nothing to a model.",
    inputSchema: {
      type: "object",
      properties: { paths, details },
      required: ["paths"],
      additionalProperties: false,
    },
  },
  {
    name: "plan_to_fit",
    title: "Plan which files fit",
    description:
      "Chooses which of the given files to leave out so that the rest fits into one request of the local llama-server, or into a budget of tokens or seconds. Lock files, generated code and the like go first.",
    inputSchema: {
      type: "object",
      properties: {
        paths,
        budget_tokens: {
          type: "integer",
          minimum: 1,
          description:
            "Tokens the files may take; without it, what one request holds less the room for the answer.",
        },
        budget_seconds: {
          type: "integer",
          minimum: 1,
          description:
            "Seconds reading the prompt may take, if this machine's speed was measured; together with the limits above, the smaller one counts.",
        },
        details,
      },
      required: ["paths"],
      additionalProperties: false,
    },
  },
  {
    name: "server_state",
    title: "State of the llama-server",
    description:
      "The local llama-server's model, its slots and how full they are, the tokens one request may hold, memory, and the measured speed.",
    inputSchema: { type: "object", properties: {}, additionalProperties: false },
  },
  {
    name: "forecast",
    title: "Forecast of the conversation",
    description:
      "How full the running conversation with the local llama-server is, about how many more turns it takes until a request is refused, how long the next turn waits, what was read again, why, and what avoids it. From the server's log; reads nothing else.",
    inputSchema: { type: "object", properties: {}, additionalProperties: false },
  },
];
