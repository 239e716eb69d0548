import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HistoryStore } from "../../../../src/app/historyStore";
import { readCurveFile } from "../../../../src/app/measurements";
import { bytesOf } from "../../../../src/cli/textFile";
import { defaultWalkOptions } from "../../../../src/core/files/files";
import { UserError } from "../../../../src/core/userError";
import { readPlanFile } from "../../../../src/node/ladder/ladderPlanFile";
import { LadderStore } from "../../../../src/node/ladder/ladderStore";
import { systemOptions } from "../../../../src/node/machine/systemOptions";
import { FollowedLog } from "../../../../src/node/reading/followedLog";
import { modelTemplate } from "../../../../src/node/template/modelTemplate";
import { loadVocabulary } from "../../../../src/node/tokenizer/vocabularyCache";
import { workspaceFiles } from "../../../../src/node/files/workspaceFiles";
import { logTail } from "../../../../src/node/llamaServer/serverStart";
import { readGgufHeader } from "../../../../src/node/gguf/ggufModelSource";
import { repositoryAround, scopeAround } from "../../../../src/node/files/ignoreFiles";
import { openCountCache } from "../../../../src/node/tokenizer/countCache";
import { readRegular } from "../../../../src/node/reading/regularFile";

let folder: string;
const at = (name: string): string => path.join(folder, name);
const fifo = (name: string): string => {
  execFileSync("mkfifo", [at(name)]);
  return at(name);
};
const { signal } = new AbortController();

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "regular-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe.skipIf(process.platform === "win32")("reading a file that somebody else may have put there", () => {
  it("refuses what has no end, at once", async () => {
    for (const file of [fifo("fifo"), "/dev/zero", "/dev/tty", folder]) {
      await expect(readRegular(file, { most: 100 })).rejects.toThrow();
    }
    await expect(readRegular(at("fifo"), { most: 100 })).rejects.toMatchObject({ code: "NOT_A_FILE" });
  });

  it("reads whole files, beginnings and ends, and no more than is allowed", async () => {
    await writeFile(at("a"), "0123456789");
    const text = async (most: number, part?: "start" | "end"): Promise<string> =>
      String(await readRegular(at("a"), { most, ...(part && { part }) }));
    expect([await text(10), await text(3, "start"), await text(3, "end"), await text(20, "end")]).toEqual([
      "0123456789",
      "012",
      "789",
      "0123456789",
    ]);
    await expect(text(9)).rejects.toMatchObject({ code: "TOO_LARGE" });
    await truncate(at("a"), 0);
    expect(await text(9)).toBe("");
    // a sparse terabyte
    await truncate(at("a"), 2 ** 40);
    await expect(text(9)).rejects.toMatchObject({ code: "TOO_LARGE" });
  });

  it("reads pipes of the command line to their end, within the limit, and stops when it is told to", async () => {
    const named = { most: 100, pipes: true } as const;
    const pipe = fifo("pipe");
    await expect(readRegular(pipe, named)).rejects.toMatchObject({ code: "NO_WRITER" });
    await expect(readRegular("/dev/zero", named)).rejects.toMatchObject({ code: "TOO_LARGE" });
    // opened for both, so that it does not wait for whoever reads
    const writer = spawn("sh", ["-c", `exec 3<>"${pipe}"; printf hello >&3; printf ready; read line`]);
    try {
      await new Promise((resolve) => writer.stdout.once("data", resolve));
      const stop = new AbortController();
      const reading = readRegular(pipe, { ...named, signal: stop.signal });
      stop.abort(new Error("stopped"));
      await expect(reading).rejects.toThrow("stopped");
    } finally {
      writer.kill("SIGKILL");
    }
  });

  // a device without an end, and a FIFO without a writer
  describe.each(["a FIFO", "a device"])("%s", (kind) => {
    const put = (name: string): string => {
      if (kind === "a FIFO") return fifo(name);
      symlinkSync("/dev/zero", at(name));
      return at(name);
    };

    it("is no plan, log, model, history, record, preset, template or benchmark's output", async () => {
      const named = put("named");
      const refused = { name: "UserError" };
      await expect(readPlanFile(named, signal)).rejects.toMatchObject(refused);
      await expect(readGgufHeader(named, signal)).rejects.toMatchObject(refused);
      await expect(readCurveFile(named, signal)).rejects.toMatchObject(refused);
      // a preset, a script or a log on the command line; of a device it reads as much as it may
      if (kind === "a FIFO") await expect(bytesOf(named, signal)).rejects.toMatchObject(refused);
      expect(await logTail(named)).toBe("");
      await expect(new FollowedLog(named, () => undefined).read(signal)).rejects.toMatchObject(refused);
      expect(() => loadVocabulary(named, undefined)).toThrow(UserError);

      put("history.jsonl");
      const history = new HistoryStore(folder);
      await expect(history.read(signal)).rejects.toMatchObject(refused);
      await expect(history.readAll(signal)).rejects.toMatchObject(refused);
      await expect(history.compact(1, signal)).rejects.toMatchObject(refused);
      const record = { version: 1, id: "1", kind: "probe", at: 1, tool: "test" } as const;
      await expect(history.append(record)).rejects.toMatchObject(refused);

      put("ladder.jsonl");
      await expect(new LadderStore(folder).read(signal)).rejects.toMatchObject(refused);

      const launch = { chatTemplate: { kind: "file", path: named } } as const;
      const header = { metadata: new Map(), tensors: [], locator: "x.gguf", fileBytes: 0 };
      const render = (): Promise<string> => Promise.reject(new Error("there is no template"));
      const template = await modelTemplate({ launch, header: header }, render)(signal);
      expect(template.kind).toBe("unknown");
    });

    it("is no repository, and has no rules where git looks for some", async () => {
      put(".git");
      expect(await repositoryAround(at("x"))).toBe(folder);
      await scopeAround(at("x"), folder, { nameOf: (file) => file });

      const repository = path.join(folder, "repository");
      mkdirSync(path.join(repository, ".git/info"), { recursive: true });
      put("repository/.git/info/exclude");
      put("repository/.gitignore");
      put("globally");
      const setup = { nameOf: (file: string) => file, globalExcludesFile: at("globally") };
      const scope = await scopeAround(path.join(repository, "x"), repository, setup);
      expect(scope.match(`${repository}/x/a.log`, false)).toBeUndefined();
      const options = { ...defaultWalkOptions, globalExcludesFile: at("globally") };
      const listed: string[] = [];
      for await (const found of workspaceFiles().list([repository], options, signal)) listed.push(found.kind);
      expect(listed).not.toContain("file");
    });

    it("gives way in our own folders, and is passed over in the system's", async () => {
      const options = { folder: at("kept"), fingerprint: "f" };
      mkdirSync(at("kept"));
      await (await openCountCache(options)).flush();
      const first = await openCountCache(options);
      first.keepPrompt("key", 1);
      await first.flush();
      const [name = ""] = readdirSync(at("kept"));
      rmSync(at(`kept/${name}`));
      put(`kept/${name}`);
      const cache = await openCountCache(options);
      expect(cache.promptTokens("key")).toBeUndefined();
      cache.keepPrompt("key", 2);
      await cache.flush();
      expect(readdirSync(at("kept"))).toEqual([name]);
      expect((await openCountCache(options)).promptTokens("key")).toBe(2);

      mkdirSync(at("llama.cpp"));
      put("llama.cpp/config.ini");
      const home = { platform: "linux", home: folder, env: { XDG_CONFIG_HOME: folder } } as const;
      expect(await systemOptions(home)).toEqual({});
    });
  });
});
