import { readdir, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { thisHome, usualModelPlaces, type ModelPlace } from "./modelFinderPlaces";
import { quantisationOfName, readGgufHead } from "./modelFinderQuantisation";
import { within } from "../waiting/within";
import { append } from "../../core/lists";
import { textOfRegular } from "../reading/regularFile";
import { Wire } from "../../core/wire";
import { ownValue } from "../../core/ownValue";

/** Of ollama: a list of a few blobs. */
const maxManifestBytes = 2 ** 20;

/** A model on this machine; `path` is its first part, `bytes` those of all parts. */
export interface FoundModel {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly quantisation?: string;
  readonly place: string;
  readonly parts: number;
  /** Parts its name promises and that are not there; llama.cpp will not load it. */
  readonly missingParts: number;
}

export interface FoundModelFiles {
  /** Newest first. */
  readonly models: readonly FoundModel[];
  /** Vision and audio projectors (mmproj), which belong to a model and are none. */
  readonly projectors: readonly FoundModel[];
}

export interface ModelFinderOptions {
  /** From the settings; searched as well. */
  readonly folders?: readonly string[];
  readonly places?: readonly ModelPlace[];
  readonly timeLimitMs?: number;
}

const maxEntries = 50_000;
const ownFolderDepth = 6;

interface Candidate {
  readonly path: string;
  readonly name: string;
  readonly place: string;
  readonly projector: boolean;
}

/** GGUF models in the usual places and the given folders, newest first. What cannot be read is passed over. */
export async function findModels(
  options: ModelFinderOptions,
  signal: AbortSignal,
): Promise<readonly FoundModel[]> {
  return (await findModelFiles(options, signal)).models;
}

export async function findModelFiles(
  options: ModelFinderOptions,
  signal: AbortSignal,
): Promise<FoundModelFiles> {
  const places = [
    ...(options.folders ?? []).map((folder): ModelPlace => {
      return {
        place: path.basename(folder),
        folder: path.resolve(folder),
        layout: "folders",
        depth: ownFolderDepth,
      };
    }),
    ...(options.places ?? usualModelPlaces(thisHome())),
  ];
  const search = new Search(performance.now() + (options.timeLimitMs ?? 5_000), signal);
  for (const place of places) {
    if (place.layout === "ollama") await search.ollama(place);
    else await search.folder(place.folder, place, place.depth);
  }
  return search.result();
}

class Search {
  private readonly candidates: Candidate[] = [];
  private entries = 0;

  constructor(
    private readonly deadline: number,
    private readonly signal: AbortSignal,
  ) {}

  /** Linked files count (the hub's snapshots are links), linked folders are not entered. */
  async folder(folder: string, place: ModelPlace, depth: number): Promise<void> {
    const entries = (await this.attempt(() => readdir(folder, { withFileTypes: true }))) ?? [];
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (++this.entries > maxEntries) return;
      const file = path.join(folder, entry.name);
      if (entry.isDirectory()) {
        if (depth > 0) await this.folder(file, place, depth - 1);
      } else if (/\.gguf$/i.test(entry.name) && (entry.isFile() || entry.isSymbolicLink())) {
        const name = entry.name.replace(/\.gguf$/i, "");
        this.candidates.push({ path: file, name, place: place.place, projector: /mmproj/i.test(name) });
      }
    }
  }

  /** Ollama keeps models as blobs; its manifests say which blob is a model and what it is called. */
  async ollama({ folder, place }: ModelPlace): Promise<void> {
    const manifests = path.join(folder, "manifests");
    for (const file of await this.filesBelow(manifests, 5)) {
      const layers = ollamaLayers(
        (await this.attempt(() => textOfRegular(file, { most: maxManifestBytes }))) ?? "",
      );
      for (const { kind, digest } of layers) {
        const blob = path.join(folder, "blobs", digest.replace(":", "-"));
        this.candidates.push({
          path: blob,
          name: ollamaName(path.relative(manifests, file).split(path.sep)),
          place,
          projector: kind === "projector",
        });
      }
    }
  }

  private async filesBelow(folder: string, depth: number): Promise<string[]> {
    const entries = (await this.attempt(() => readdir(folder, { withFileTypes: true }))) ?? [];
    const files: string[] = [];
    for (const entry of entries) {
      if (++this.entries > maxEntries) break;
      const file = path.join(folder, entry.name);
      if (entry.isFile()) files.push(file);
      else if (entry.isDirectory() && depth > 0) append(files, await this.filesBelow(file, depth - 1));
    }
    return files.sort();
  }

  async result(): Promise<FoundModelFiles> {
    const seen = new Set<string>();
    const models: FoundModel[] = [];
    const projectors: FoundModel[] = [];
    for (const group of grouped(this.candidates)) {
      const found = await this.describe(group, seen);
      if (found !== undefined) (group.first.projector ? projectors : models).push(found);
    }
    const newestFirst = (a: FoundModel, b: FoundModel): number => b.modifiedMs - a.modifiedMs;
    return { models: models.sort(newestFirst), projectors: projectors.sort(newestFirst) };
  }

  /** Undefined where nothing can be read, it is no GGUF, or the same file was found under another name before. */
  private async describe({ first, rest, total }: Group, seen: Set<string>): Promise<FoundModel | undefined> {
    const target = await this.attempt(() => realpath(first.path));
    if (target === undefined || seen.has(target)) return undefined;
    seen.add(target);
    let bytes = 0;
    let modifiedMs = 0;
    for (const part of [first, ...rest]) {
      const stats = await this.attempt(() => stat(part.path));
      if (stats?.isFile() !== true) return undefined;
      bytes += stats.size;
      modifiedMs = Math.max(modifiedMs, stats.mtimeMs);
    }
    let quantisation = quantisationOfName(first.name);
    if (quantisation === undefined) {
      const head = await this.attempt(() => readGgufHead(first.path));
      if (head?.isGguf !== true) return undefined;
      quantisation = head.quantisation;
    }
    return {
      path: first.path,
      name: first.name.replace(shardSuffix, ""),
      bytes,
      modifiedMs,
      place: first.place,
      parts: 1 + rest.length,
      missingParts: total - 1 - rest.length,
      ...(quantisation !== undefined && { quantisation }),
    };
  }

  /** Undefined where the file system refuses or does not answer in time. */
  private async attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    const left = this.deadline - performance.now();
    if (left <= 0) return undefined;
    try {
      return await within(work(), left, this.signal);
    } catch {
      this.signal.throwIfAborted();
      return undefined;
    }
  }
}

/** llama.cpp's names of a split model: NAME-00001-of-00003.gguf. */
const shardSuffix = /-(\d{5})-of-(\d{5})$/;

interface Group {
  readonly first: Candidate;
  readonly rest: Candidate[];
  readonly total: number;
}

function grouped(candidates: readonly Candidate[]): Group[] {
  const groups = new Map<string, Group>();
  const sorted = [...candidates].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  for (const candidate of sorted) {
    const shard = shardSuffix.exec(candidate.name);
    const key = shard === null ? candidate.path : candidate.path.replace(/-\d{5}-of-/, "-*-of-");
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, { first: candidate, rest: [], total: shard === null ? 1 : Number(shard[2]) });
    } else if (shard !== null) {
      group.rest.push(candidate);
    }
  }
  return Array.from(groups.values());
}

/** "library/qwen3/8b" in the public registry is "qwen3:8b"; other registries and users keep their names. */
function ollamaName(parts: readonly string[]): string {
  const [registry, ...rest] = parts;
  const tag = rest.pop() ?? "latest";
  const model = rest[0] === "library" ? rest.slice(1) : rest;
  return `${registry === "registry.ollama.ai" ? "" : `${registry ?? ""}/`}${model.join("/")}:${tag}`;
}

interface OllamaLayer {
  readonly kind: "model" | "projector";
  readonly digest: string;
}

const ollamaKinds: Readonly<Record<string, OllamaLayer["kind"] | undefined>> = {
  "application/vnd.ollama.image.model": "model",
  "application/vnd.ollama.image.projector": "projector",
};

function ollamaLayers(manifest: string): readonly OllamaLayer[] {
  const layers = Wire.ofJson(manifest, "manifest")?.ifFits((its) => its.at("layers"));
  return layers?.fitting(ollamaLayer) ?? [];
}

function ollamaLayer(layer: Wire): OllamaLayer | undefined {
  const kind = ownValue(ollamaKinds, layer.at("mediaType").text());
  const digest = layer.at("digest").text();
  return kind !== undefined && /^sha256:[0-9a-f]{64}$/.test(digest) ? { kind, digest } : undefined;
}
