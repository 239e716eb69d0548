import { fork, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { build } from "esbuild";
import {
  createProtocolConnection,
  IPCMessageReader,
  IPCMessageWriter,
  type Diagnostic,
  type InitializeResult,
  type ProtocolConnection,
  type PublishDiagnosticsParams,
  type Range,
} from "vscode-languageserver/node";
import type { PresetQuestions } from "../../src/client/language/languageClient";
import {
  requests,
  type CachedModelRequest,
  type ModelFactsRequest,
  type SectionCostRequest,
  type ServerSettings,
} from "../../src/core/protocol/serverRequests";
import { repository } from "./repository";

export const trusted: ServerSettings = { trusted: true, locale: "en", translations: {} };

let bundle: Promise<string> | undefined;
let folder: string | undefined;

async function builtServer(): Promise<string> {
  folder = await mkdtemp(path.join(tmpdir(), "language-server-"));
  const outfile = path.join(folder, "server.js");
  const entry = path.join(repository, "src/languageServer/main.ts");
  await build({ entryPoints: [entry], outfile, bundle: true, platform: "node", logLevel: "error" });
  return outfile;
}

/** Of the server that was built for the tests of this file. */
export async function removeBuiltServer(): Promise<void> {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
}

/** A real language server in a process of its own, spoken to as an editor does. */
export class LanguageEditor {
  private readonly waiting = new Map<string, ((found: readonly Diagnostic[]) => void)[]>();
  private readonly published = new Map<string, readonly Diagnostic[]>();
  private version = 1;

  private constructor(
    private readonly child: ChildProcess,
    readonly connection: ProtocolConnection,
    readonly capabilities: InitializeResult["capabilities"],
  ) {
    connection.onNotification("textDocument/publishDiagnostics", (params: PublishDiagnosticsParams) => {
      this.published.set(params.uri, params.diagnostics);
      for (const resolve of this.waiting.get(params.uri)?.splice(0) ?? []) resolve(params.diagnostics);
    });
  }

  static async open(
    settings: ServerSettings = trusted,
    questions: PresetQuestions = {},
  ): Promise<LanguageEditor> {
    bundle ??= builtServer();
    const child = fork(await bundle, ["--node-ipc"], { stdio: "ignore" });
    const connection = createProtocolConnection(new IPCMessageReader(child), new IPCMessageWriter(child));
    const { signal } = new AbortController();
    connection.onRequest(
      requests.modelFacts,
      async ({ path: file }: ModelFactsRequest) => (await questions.modelFacts?.(file, signal)) ?? null,
    );
    connection.onRequest(
      requests.sectionCost,
      async (request: SectionCostRequest) => (await questions.sectionCost?.(request, signal)) ?? null,
    );
    connection.onRequest(
      requests.cachedModel,
      async (request: CachedModelRequest) => (await questions.cachedModel?.(request, signal)) ?? null,
    );
    connection.onRequest(requests.repositories, async () => (await questions.repositories?.(signal)) ?? []);
    connection.listen();
    const { capabilities } = await connection.sendRequest<InitializeResult>("initialize", {
      processId: process.pid,
      rootUri: null,
      capabilities: { workspace: { codeLens: { refreshSupport: true } } },
      initializationOptions: settings,
    });
    await connection.sendNotification("initialized", {});
    return new LanguageEditor(child, connection, capabilities);
  }

  /** What was published last; none before anything was. */
  latest(uri: string): readonly Diagnostic[] | undefined {
    return this.published.get(uri);
  }

  /** What is published next. */
  diagnostics(uri: string): Promise<readonly Diagnostic[]> {
    return new Promise((resolve) => {
      this.waiting.set(uri, [...(this.waiting.get(uri) ?? []), resolve]);
    });
  }

  async show(uri: string, text: string, languageId = "llama-presets"): Promise<void> {
    const textDocument = { uri, languageId, version: this.version, text };
    await this.connection.sendNotification("textDocument/didOpen", { textDocument });
  }

  async type(uri: string, range: Range, text: string): Promise<void> {
    this.version++;
    const textDocument = { uri, version: this.version };
    const contentChanges = [{ range, text }];
    await this.connection.sendNotification("textDocument/didChange", { textDocument, contentChanges });
  }

  ask<T>(method: string, uri: string, line?: number, character?: number, more = {}): Promise<T> {
    const position = line === undefined ? {} : { position: { line, character } };
    return this.connection.sendRequest<T>(`textDocument/${method}`, {
      textDocument: { uri },
      ...position,
      ...more,
    });
  }

  async close(): Promise<void> {
    await this.connection.sendRequest("shutdown");
    await this.connection.sendNotification("exit");
    this.connection.dispose();
    if (this.child.exitCode === null) await new Promise((resolve) => this.child.once("exit", resolve));
  }
}

export async function withEditor(
  work: (editor: LanguageEditor) => Promise<void>,
  settings?: ServerSettings,
  questions?: PresetQuestions,
): Promise<void> {
  const editor = await LanguageEditor.open(settings, questions);
  try {
    await work(editor);
  } finally {
    await editor.close();
  }
}
