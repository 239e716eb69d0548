import { describe, expect, it } from "vitest";
import { chooseSwapModel, readSwapRunning } from "../../../../src/core/servers/llamaSwapRunning";
import { llamaVscodeAddresses } from "../../../../src/core/servers/llamaVscode";
import { runningServers } from "../../../../src/core/servers/runningServers";
import { addressesOfProcesses, addressesToAsk } from "../../../../src/core/servers/serverAddresses";
import { UserError } from "../../../../src/core/userError";

const process = (pid: number, ...argv: string[]): { pid: number; argv: string[] } => ({ pid, argv });

describe("addresses to ask", () => {
  it("are asked once each, and only on this machine where nobody named them", () => {
    const terminal = { kind: "terminal", name: "zsh" } as const;
    const urls = [
      "http://localhost:8080/",
      "http://127.0.0.1:8080",
      "http://example.org:8080",
      "https://[::1]:1",
    ];
    expect(addressesToAsk(urls.map((url) => ({ url, source: terminal }))).map(({ url }) => url)).toEqual([
      "http://localhost:8080/",
      "https://[::1]:1",
    ]);
    const named = "http://127.0.0.1.example.org:8080";
    expect(addressesToAsk([{ url: named, source: terminal }])).toEqual([]);
  });

  it("of processes: what answers prompts before what embeds, and no model of a router by itself", () => {
    const servers = runningServers([
      process(1, "llama-server", "-m", "e.gguf", "--embedding", "--port", "7001"),
      process(2, "llama-server", "-m", "a.gguf", "--port", "7002"),
      process(3, "llama-server", "--models-dir", "/m", "--port", "7003"),
      { ...process(4, "llama-server", "-m", "b.gguf", "--port", "7004"), parentPid: 3 },
    ]);
    expect(addressesOfProcesses(servers).map(({ url }) => url)).toEqual([
      "http://127.0.0.1:7002",
      "http://127.0.0.1:7003",
      "http://127.0.0.1:7001",
    ]);
  });

  it("of llama.vscode: endpoints, then commands, then lists of models", () => {
    const settings: Readonly<Record<string, unknown>> = {
      endpoint: "http=//127.0.0.1:8012",
      endpoint_chat: "http://127.0.0.1:8011/",
      endpoint_tools: "",
      launch_completion: "llama serve --fim-qwen-1.5b-default --port 8012",
      launch_chat: 7,
      chat_models_list: [
        { name: "x", localStartCommand: "llama-server -hf a/b -ub 1024 --port 8013" },
        null,
        { name: "y", endpoint: "https://openrouter.ai/api" },
      ],
    };
    const found = llamaVscodeAddresses((key) => settings[key], "posix");
    expect(found.map(({ url, source }) => [url, "setting" in source && source.setting])).toEqual([
      ["http://127.0.0.1:8011", "llama-vscode.endpoint_chat"],
      ["http://127.0.0.1:8012", "llama-vscode.launch_completion"],
      ["http://127.0.0.1:8013", "llama-vscode.chat_models_list"],
      ["https://openrouter.ai/api", "llama-vscode.chat_models_list"],
    ]);
    expect(addressesToAsk(found)).toHaveLength(3);
  });
});

describe("llama-swap", () => {
  const running = (...models: unknown[]): unknown => ({ running: models });

  it("is known by the shape of /running", () => {
    expect(readSwapRunning(running({ model: "a", state: "ready" }, null, { model: 7 }))).toEqual([
      { id: "a", state: "ready" },
    ]);
    for (const other of [undefined, null, "running", {}, { running: "yes" }]) {
      expect(readSwapRunning(other)).toBeUndefined();
    }
  });

  it("is asked for the one model that runs, or the one that is meant, and never loads one", () => {
    const two = [
      { id: "a", state: "ready" },
      { id: "b", state: "ready" },
    ];
    expect(chooseSwapModel("u", two, "b").id).toBe("b");
    expect(chooseSwapModel("u", two.slice(0, 1), undefined).id).toBe("a");
    const reasonOf = (list: typeof two, wanted?: string): unknown => {
      try {
        return chooseSwapModel("u", list, wanted).id;
      } catch (error) {
        return error instanceof UserError ? error.reason : error;
      }
    };
    expect(reasonOf(two)).toBe("invalidInput");
    expect(reasonOf([])).toBe("loading");
    expect(reasonOf([{ id: "a", state: "starting" }])).toBe("loading");
    expect(reasonOf(two.slice(0, 1), "b")).toBe("loading");
  });
});
