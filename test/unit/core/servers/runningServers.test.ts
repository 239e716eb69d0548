import { describe, expect, it } from "vitest";
import { runningServers, type ListedProcess } from "../../../../src/core/servers/runningServers";

const listed = (pid: number, argv: string, more: Partial<ListedProcess> = {}): ListedProcess => ({
  pid,
  argv: argv.split(" "),
  ...more,
});

describe("llama-servers in a list of processes", () => {
  it("knows them by name, path, suffix, subcommand and loader", () => {
    const found = runningServers([
      listed(1, "/usr/bin/llama-server -m a.gguf -c 4096"),
      listed(2, "C:\\llama\\llama-server.exe -m b.gguf"),
      listed(3, "llama serve -hf o/r --port 8012"),
      listed(
        4,
        "/lib/ld-linux-x86-64.so.2 --library-path /x:/y --argv0 llama-server /usr/bin/llama-server -m d.gguf",
      ),
      listed(5, "docker run --gpus all ghcr.io/ggml-org/llama.cpp:server-cuda -m e.gguf -c 1024"),
    ]);
    expect(found.map(({ pid, options }) => [pid, options.model ?? options.hfRepo])).toEqual([
      [1, "a.gguf"],
      [2, "b.gguf"],
      [3, "o/r"],
      [4, "d.gguf"],
      [5, "e.gguf"],
    ]);
  });

  it.each([
    "grep llama-server",
    "vim llama-server.log",
    "tail -f /var/log/llama-server",
    "llama-cli -m a.gguf",
    "llama-bench -m a.gguf",
    "ollama serve",
    "llama run x",
    "node /home/u/llama-server/index.js",
  ])("does not take %s for one", (argv) => {
    expect(runningServers([listed(1, argv)])).toEqual([]);
  });

  it("says where each may answer", () => {
    const urls = (argv: string, environment = {}): readonly string[] | undefined =>
      runningServers([listed(1, `llama-server -m a ${argv}`, { environment })])[0]?.urls;
    expect(urls("--port 8001")).toEqual(["http://127.0.0.1:8001"]);
    expect(urls("")).toEqual(["http://127.0.0.1:9931", "http://127.0.0.1:8080"]);
    expect(urls("--host 0.0.0.0 --port 1")).toEqual(["http://127.0.0.1:1"]);
    expect(urls("--host ::1,10.0.0.5 --port 1 --api-prefix /a")).toEqual([
      "http://[::1]:1/a",
      "http://10.0.0.5:1/a",
    ]);
    expect(urls("--host /tmp/x.sock")).toEqual([]);
    expect(urls("", { LLAMA_ARG_PORT: "77" })).toEqual(["http://127.0.0.1:77"]);
  });

  it("tells a router, its children and wrappers apart", () => {
    const found = runningServers([
      listed(1, "sudo llama-server --models-preset p.ini"),
      listed(2, "llama-server --models-preset p.ini", { parentPid: 1 }),
      listed(3, "llama-server --port 41234 --alias a -m a.gguf", { parentPid: 2 }),
    ]);
    expect(found.map(({ pid, role }) => [pid, role])).toEqual([
      [2, "router"],
      [3, "routersChild"],
    ]);
  });

  it("keeps no key", () => {
    const found = runningServers([
      listed(1, "llama-server -m a --api-key hunter2 -hft hunter2", { environment: { HF_TOKEN: "hunter2" } }),
    ]);
    expect(found[0]?.needsKey).toBe(true);
    expect(JSON.stringify(found)).not.toContain("hunter2");
  });
});
