import { access, readdir } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { LaunchOptions } from "../core/launch/launchOptions";
import type { ModelFacts } from "../core/launch/launchRules";
import type { CachedModelRequest } from "../core/protocol/serverRequests";

export interface FactSource {
  readonly modelFacts: (path: string) => Promise<ModelFacts | null>;
  /** The file of llama.cpp's cache that `-hf` would take. */
  readonly cachedModel: (request: CachedModelRequest) => Promise<string | null>;
  readonly repositories: () => Promise<readonly string[]>;
}

const maxFiles = 200;
/** Repositories that presets name. */
const maxCached = 2000;

/**
 * What is known of the files a preset names, answered at once from memory; what is not known yet is looked up, and
 * `onNews` is called when it has come. Looks at nothing until the workspace is trusted.
 */
export class FileFacts {
  private readonly exists = new Map<string, boolean | undefined>();
  private readonly models = new Map<string, ModelFacts | null | undefined>();
  private readonly folders = new Map<string, readonly string[]>();
  private readonly cached = new Map<string, string | null | undefined>();
  private cachedRepositories: Promise<readonly string[]> | undefined;
  private trusted = false;

  constructor(
    private readonly source: FactSource,
    private readonly onNews: () => void,
  ) {}

  trust(): void {
    this.trusted = true;
  }

  /** Forgets everything, because files may have changed. */
  forget(): void {
    this.exists.clear();
    this.models.clear();
    this.folders.clear();
    this.cached.clear();
    this.cachedRepositories = undefined;
  }

  /** What `-hf` can be given without a download. */
  async repositories(): Promise<readonly string[]> {
    if (!this.trusted) return [];
    this.cachedRepositories ??= this.source.repositories().catch(() => []);
    return this.cachedRepositories;
  }

  fileExists(uri: string, named: string): boolean | undefined {
    const file = this.locate(uri, named);
    if (file === undefined) return undefined;
    if (!this.exists.has(file)) {
      this.exists.set(file, undefined);
      void access(file).then(
        () => {
          this.learn(this.exists, file, true);
        },
        (cause: unknown) => {
          const missing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
          // relative paths start from the server's folder, which nobody knows here
          if (missing && path.isAbsolute(named)) this.learn(this.exists, file, false);
        },
      );
    }
    return this.exists.get(file);
  }

  /** Absolute path of the model's file, once it is known to be there. */
  modelPath(uri: string, { model, hfRepo, hfFile }: LaunchOptions): string | undefined {
    if (model !== undefined)
      return this.fileExists(uri, model) === true ? this.locate(uri, model) : undefined;
    if (hfRepo === undefined || !this.trusted) return undefined;
    const key = `${hfRepo}\0${hfFile ?? ""}`;
    if (!this.cached.has(key) && this.cached.size < maxCached) {
      this.cached.set(key, undefined);
      void this.source.cachedModel({ hfRepo, ...(hfFile !== undefined && { hfFile }) }).then(
        (file) => {
          this.learn(this.cached, key, file);
        },
        () => undefined,
      );
    }
    return this.cached.get(key) ?? undefined;
  }

  modelFacts(uri: string, options: LaunchOptions): ModelFacts | undefined {
    const file = this.modelPath(uri, options);
    if (file === undefined) return undefined;
    if (!this.models.has(file)) {
      this.models.set(file, undefined);
      void this.source.modelFacts(file).then(
        (facts) => {
          this.learn(this.models, file, facts);
        },
        () => undefined,
      );
    }
    return this.models.get(file) ?? undefined;
  }

  /** GGUF files and folders that continue a typed path. */
  async files(uri: string, typed: string): Promise<readonly string[]> {
    const folder = this.locate(uri, typed.endsWith("/") || typed === "" ? `${typed}.` : path.dirname(typed));
    if (folder === undefined) return [];
    const known = this.folders.get(folder) ?? (await listFolder(folder));
    this.folders.set(folder, known);
    const before = typed.slice(0, typed.lastIndexOf("/") + 1);
    return known.map((name) => before + name);
  }

  /** The absolute path of what a preset names. */
  private locate(uri: string, named: string): string | undefined {
    if (!this.trusted || named.includes("\0") || /[?*]/.test(named)) return undefined;
    if (path.isAbsolute(named)) return path.normalize(named);
    return uri.startsWith("file:") ? path.resolve(path.dirname(fileURLToPath(uri)), named) : undefined;
  }

  private learn<T>(map: Map<string, T>, file: string, value: T): void {
    if (!map.has(file)) return;
    map.set(file, value);
    this.onNews();
  }
}

async function listFolder(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => !entry.name.startsWith(".") && (entry.isDirectory() || /\.gguf$/i.test(entry.name)))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .sort()
    .slice(0, maxFiles);
}
