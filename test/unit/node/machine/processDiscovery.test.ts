import { afterEach, expect, it, vi } from "vitest";
import { UserError } from "../../../../src/core/userError";
import { runningLlamaServers } from "../../../../src/node/machine/processDiscovery";
import { discoverServer } from "../../../../src/node/llamaServer/serverDiscovery";
import { goodReplies, sendJson, startHttpStub } from "../../../support/stubServer";

/** What the system says about its processes. */
let list: () => Promise<unknown>;
vi.mock("systeminformation", () => ({ processes: () => list() }));

const signal = new AbortController().signal;
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

it("says what to do where the system does not show its processes", async () => {
  list = () => Promise.reject(new Error("Access is denied / アクセスが拒否されました"));
  const error: unknown = await runningLlamaServers(signal).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(UserError);
  expect(error).toMatchObject({ reason: "outsideFailed" });
  expect((error as UserError).message).toContain("llamaGauge.server.url");
});

it("finds a server at a default port all the same", async () => {
  list = () => Promise.reject(new Error("denied"));
  const stub = await startHttpStub(({ path }, response) => {
    const reply = (goodReplies as Readonly<Record<string, unknown>>)[path.replace(/\?.*/, "")];
    sendJson(response, reply ?? {}, reply === undefined ? 404 : 200);
  });
  closing.push(() => stub.close());
  const { found } = await discoverServer({ processes: true, ports: [stub.port] }, signal);
  expect(found?.facts.url).toBe(stub.url);
});

it("is not held up by a list that never comes, once the caller has left", async () => {
  list = () => new Promise(() => undefined);
  const stop = new AbortController();
  const looking = runningLlamaServers(stop.signal);
  stop.abort(new Error("enough"));
  await expect(looking).rejects.toThrow("enough");
});

it("passes over rows that make no sense", async () => {
  const odd = { pid: -1, parentPid: NaN, command: "", params: "", path: "", started: "" };
  list = () =>
    Promise.resolve({
      list: [
        odd,
        { ...odd, command: "llama-server" },
        { ...odd, command: "C:\\Programme\\llama-server.exe", params: '-m "Modelle\\ä b.gguf' },
        { ...odd, pid: 2 ** 31, command: "プロセス llama", params: "\u0000" },
      ],
    });
  const servers = await runningLlamaServers(signal);
  // Linux knows better: there are no such processes
  expect(servers.length).toBe(process.platform === "linux" ? 0 : 2);
});
