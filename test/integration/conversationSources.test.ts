import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { LiveLedger } from "../../src/app/logs/liveLedger";
import type { LedgerUpdate } from "../../src/core/conversation/source";
import { formatText } from "../../src/core/format";
import { Agent, someTokens } from "../support/agent";
import { forgedModel } from "../support/forge/forgeModel";
import { startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";

const folder = mkdtempSync(path.join(os.tmpdir(), "gauge-sources-"));
const logFile = path.join(folder, "named.log");
let server: LlamaServerProcess;
let agent: Agent;

beforeAll(async () => {
  server = await startLlamaServer({
    model: await forgedModel({ architecture: "qwen3" }),
    args: ["-c", "4096", "-np", "1", "-t", "1", "-tb", "1", "--log-file", logFile],
  });
  agent = new Agent(server.url, { system: someTokens(300, 1), answer: 4 });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** What a view of the sources was told. */
class Follower {
  readonly told: LedgerUpdate[] = [];
  private following: { dispose(): void } | undefined;
  chosen = "";
  attached: { readonly url: string; readonly logFile: string } | undefined;
  url: string | undefined = server.url;
  trusted = true;
  readonly ledger = new LiveLedger({
    chosenLog: () => this.chosen,
    attachedServer: () => this.attached,
    serverUrl: () => this.url,
    trusted: () => this.trusted,
  });

  async follow(): Promise<void> {
    this.following = await this.ledger.follow((update) => this.told.push(update));
  }

  stop(): void {
    this.following?.dispose();
  }

  get last(): LedgerUpdate | undefined {
    return this.told.at(-1);
  }

  requests(): number | undefined {
    return this.last?.ledger?.requests.length;
  }

  problem(): string | undefined {
    return this.last?.problem && formatText(this.last.problem.problem);
  }
}

let follower: Follower;
const make = (about: Partial<Pick<Follower, "chosen" | "attached" | "url" | "trusted">>): Follower =>
  (follower = Object.assign(new Follower(), about));
afterEach(() => follower.stop());

describe("the log of a running server", () => {
  it("is found by its command line, and tells each request as the server answers it", async () => {
    make({});
    await follower.follow();
    await expect
      .poll(() => follower.last?.source)
      .toEqual({
        ...{ kind: "commandLine", file: logFile, url: server.url },
      });
    for (const question of [1, 2]) {
      const turn = await agent.turn(someTokens(40, question));
      await expect
        .poll(() => follower.last?.ledger?.requests.at(-1))
        .toMatchObject(
          "refused" in turn
            ? {}
            : { cachedTokens: turn.cached, readTokens: turn.read, generatedTokens: turn.generated },
        );
    }
    // the start of the server, to a second: both clocks are this machine's
    const [start] = follower.last?.startedAt?.values() ?? [];
    const { endedAt = Number.NaN } = follower.last?.ledger?.requests.at(-1) ?? {};
    const ago = Date.now() - ((start ?? Number.NaN) + 1000 * endedAt);
    expect(ago).toBeGreaterThan(-1000);
    expect(ago).toBeLessThan(20_000);
  });

  it("is not looked for in an untrusted workspace, nor for a server of another machine or port", async () => {
    for (const about of [
      { trusted: false },
      { url: "http://192.0.2.1:8080" },
      { url: "http://127.0.0.1:9" },
    ]) {
      make(about);
      await follower.follow();
      await expect.poll(() => follower.told).toEqual([{}]);
      follower.stop();
    }
  });

  it("is read on where it was left when a view comes back", async () => {
    make({});
    await follower.follow();
    await expect.poll(() => follower.requests()).toBeGreaterThan(0);
    const before = follower.last?.ledger;
    follower.stop();
    const told = follower.told.length;
    await agent.turn(someTokens(40, 3));
    // nobody looks, so nothing is read
    expect(follower.told).toHaveLength(told);
    await follower.follow();
    await expect.poll(() => follower.requests()).toBe((before?.requests.length ?? 0) + 1);
    expect(follower.told.slice(told).map(({ ledger }) => ledger?.lines ?? 0)).not.toContain(0);
  });
});

describe("which log", () => {
  const own = (): { url: string; logFile: string } => {
    const file = path.join(folder, "own.log");
    copyFileSync(logFile, file);
    return { url: server.url, logFile: file };
  };

  it("is that of the server started here before that of a command line, and the user's choice before all", async () => {
    make({ attached: own() });
    await follower.follow();
    await expect.poll(() => follower.last?.source?.kind).toBe("ownLog");
    follower.stop();
    const chosen = path.join(folder, "chosen.log");
    copyFileSync(logFile, chosen);
    make({ attached: own(), chosen });
    await follower.follow();
    await expect.poll(() => follower.last?.source).toEqual({ kind: "chosenLog", file: chosen });
  });

  it("is that of the server that was asked, not of another one started here", async () => {
    make({ attached: { ...own(), url: "http://127.0.0.1:9" } });
    await follower.follow();
    await expect.poll(() => follower.last?.source?.kind).toBe("commandLine");
  });
});

describe("a log the user points at", () => {
  const file = path.join(folder, "pointed.log");
  const start =
    "0.00.700.000 I srv    load_model: initializing, n_slots = 1, n_ctx_slot = 4096, kv_unified = 'false'\n";
  const request = (task: number): string =>
    [
      `0.0${task}.000.000 I slot get_availabl: id  0 | task -1 | selected slot by LRU, n_tokens = 0, t_last = -1`,
      `0.0${task}.000.100 I slot launch_slot_: id  0 | task ${task} | processing task, is_child = 0`,
      `0.0${task}.500.000 I slot print_timing: id  0 | task ${task} | prompt eval time = 400.00 ms / 800 tokens (0.5 ms per token, 2000 tokens per second)`,
      `0.0${task}.500.100 I slot print_timing: id  0 | task ${task} |        eval time = 90.00 ms / 20 tokens (4.5 ms per token, 222 tokens per second)`,
      `0.0${task}.500.200 I slot      release: id  0 | task ${task} | stop processing: n_tokens = 819, truncated = 0`,
      "",
    ].join("\n");

  it.each<[string, (write: (text: string) => void) => void]>([
    ["grows", () => appendFileSync(file, request(2))],
    [
      "is rotated",
      (write) => {
        renameSync(file, `${file}.1`);
        write(request(2));
      },
    ],
    ["is cut off and written anew", (write) => write(request(3))],
    [
      "is removed and comes back",
      (write) => {
        rmSync(file);
        write(request(2));
      },
    ],
  ])("goes on when it %s, with what it told before", async (_, change) => {
    writeFileSync(file, start + request(1));
    make({ chosen: file });
    await follower.follow();
    await expect.poll(() => follower.requests()).toBe(1);
    change((text) => writeFileSync(file, text));
    await expect.poll(() => follower.requests()).toBe(2);
    expect(follower.problem()).toBeUndefined();
  });

  it("keeps what it told when it vanishes, says so, and goes on when it is there again", async () => {
    writeFileSync(file, start + request(1));
    make({ chosen: file });
    await follower.follow();
    await expect.poll(() => follower.requests()).toBe(1);
    rmSync(file);
    await expect.poll(() => follower.problem()).toBe(`${file} cannot be read.`);
    expect(follower.requests()).toBe(1);
    writeFileSync(file, start + request(1) + request(2));
    await expect.poll(() => follower.problem()).toBeUndefined();
    await expect.poll(() => follower.last?.ledger?.requests.at(-1)?.task).toBe(2);
  });

  it.each<[string, () => string, RegExp]>([
    ["a folder", () => folder, /is not a file/],
    ["a binary", () => process.execPath, /is not a text file/],
    ["a device", () => "/dev/zero", /is not a file/],
    ["nothing", () => path.join(folder, "none.log"), /cannot be read/],
  ])("may be %s", async (_, chosen, problem) => {
    const pointed = chosen();
    if (!existsSync(pointed)) expect(pointed).toContain("none.log");
    make({ chosen: pointed });
    await follower.follow();
    await expect.poll(() => follower.problem()).toMatch(problem);
    expect(follower.last?.ledger).toBeUndefined();
  });
});
