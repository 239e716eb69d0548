import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import path from "node:path";
import { describe, expect, it } from "vitest";

const src = path.join(import.meta.dirname, "../../src");

type Floor = "core" | "node" | "app" | "client" | "languageServer" | "webview" | "cli" | "main";

/** Packages without input, output or state of their own, which `core` may use. */
const purePackages: readonly string[] = ["jsonc-parser", "yaml"];

/** Which other floors, and which packages, a floor may import. `src/*.ts` are the composition roots ("main"). */
const allowed: Record<
  Floor,
  {
    readonly floors: readonly Floor[];
    /** Floors of which only types may be imported. */
    readonly types?: readonly Floor[];
    readonly packages: (name: string) => boolean;
  }
> = {
  core: { floors: [], packages: (name) => purePackages.includes(name) },
  node: { floors: ["core"], packages: (name) => name !== "vscode" && !isBrowserPackage(name) },
  app: { floors: ["core", "node"], packages: isNode },
  client: {
    floors: ["core"],
    types: ["app"],
    packages: (name) => name === "vscode" || name === "vscode-languageclient/node",
  },
  languageServer: {
    floors: ["core"],
    packages: (name) => name.startsWith("vscode-languageserver") || isNode(name),
  },
  webview: { floors: ["core"], packages: isBrowserPackage },
  cli: {
    floors: ["core", "node", "app"],
    packages: (name) => name === "commander" || name.startsWith("@modelcontextprotocol/") || isNode(name),
  },
  main: {
    floors: ["core", "app", "client", "cli"],
    packages: (name) => name !== "",
  },
};

/**
 * The rooms (folders) of each floor from low to high; "." is the floor's own folder. A room imports only rooms below it,
 * so no two import each other and there is no larger circle.
 */
const rooms: Record<Floor, readonly string[]> = {
  core: [
    ...[".", "causes", "model", "launch", "files"],
    ...["tokens/unicode", "tokens/preTokenizers", "tokens/kernel", "tokens"],
    ...["acceptance", "scripts", "servers", "prefill"],
    ...["memory/devices", "memory/overrides", "memory", "memory/graph", "memory/projector", "memory/budget"],
    ...["monitor", "llamaBench", "bench", "logs/reading", "conversation", "history", "preset", "logs"],
    ...["ladder/plan", "ladder/prompt", "ladder/score", "ladder/diagnosis", "ladder/report"],
    ...["report", "prescription", "agents", "protocol"],
  ],
  node: [
    ...["waiting", "process", "reading", "writing", "gguf", "machine", "monitor"],
    ...["llamaServer", "tokenizer", "template", "files", "llamaBench", "ladder"],
  ],
  app: ["logs", "agents", "measuring", ".", "conversation"],
  client: [
    "editor",
    "servers",
    "estimate",
    "language",
    "panel",
    "speed",
    "conversation",
    "ladder",
    "statusBar",
    ".",
  ],
  languageServer: ["."],
  webview: ["view", "saving", "charts", "cards", "page", "."],
  cli: [".", "speed", "run"],
  main: ["."],
};

/** Files in one room; more of them have more than one subject. */
const mostFiles = 24;

function isBrowserPackage(name: string): boolean {
  return /^(lit|@vscode-elements|d3-)/.test(name);
}

function isNode(name: string): boolean {
  return name.startsWith("node:") || builtinModules.includes(name);
}

interface Import {
  readonly file: string;
  readonly specifier: string;
  readonly typesOnly: boolean;
}

function importsOf(file: string, text: string): Import[] {
  const found = text.matchAll(
    /(?:^|\n)\s*((?:import|export)\s(?:type\s)?)[^"';]*?from\s*["']([^"']+)["']|(?:^|\n)\s*import\s*["']([^"']+)["']|\b(?:import|require)\(\s*["']([^"']+)["']/g,
  );
  return Array.from(found, ([, keyword, from, sideEffect, dynamic]) => ({
    file,
    specifier: from ?? sideEffect ?? dynamic ?? "",
    typesOnly: keyword?.endsWith("type ") === true,
  }));
}

interface Place {
  readonly floor: Floor;
  readonly room: string;
}

function placeOf(file: string): Place {
  const parts = path.relative(src, file).split(path.sep).slice(0, -1);
  const [floor = "main", ...room] = parts;
  return { floor: floor as Floor, room: room.length === 0 ? "." : room.join("/") };
}

/** The wrong arrows in a file, in words. */
export function wrongArrows(file: string, text: string): string[] {
  const from = placeOf(file);
  return importsOf(file, text).flatMap((its) => {
    const { specifier } = its;
    const fine = specifier.startsWith(".")
      ? mayImport(from, placeOf(path.resolve(path.dirname(file), specifier)), its.typesOnly)
      : allowed[from.floor].packages(specifier);
    return fine ? [] : [`${path.relative(src, file)} imports ${specifier}`];
  });
}

function mayImport(from: Place, to: Place, typesOnly: boolean): boolean {
  if (from.floor === to.floor) return from.room === to.room || heightOf(to) < heightOf(from);
  const { floors, types = [] } = allowed[from.floor];
  return floors.includes(to.floor) || (typesOnly && types.includes(to.floor));
}

/** A room that is not in the list is below and above nothing. */
function heightOf({ floor, room }: Place): number {
  const height = rooms[floor].indexOf(room);
  return height < 0 ? Number.NaN : height;
}

function ownImports(file: string, text: string): string[] {
  return importsOf(file, text)
    .filter(({ specifier }) => specifier.startsWith("."))
    .map(({ specifier }) => `${path.resolve(path.dirname(file), specifier)}.ts`);
}

/** Files of one circle, each importing the next and the last the first; undefined where there is none. */
function circleIn(importing: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const done = new Set<string>();
  const follow = (file: string, way: readonly string[]): readonly string[] | undefined => {
    if (way.includes(file)) return way.slice(way.indexOf(file));
    if (done.has(file)) return undefined;
    for (const next of importing.get(file) ?? []) {
      const circle = follow(next, [...way, file]);
      if (circle !== undefined) return circle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of importing.keys()) {
    const circle = follow(file, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

describe("the walls of the house", () => {
  const files = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => path.join(src, name));

  it("has only arrows that go down", () => {
    expect(files.length).toBeGreaterThan(10);
    expect(files.flatMap((file) => wrongArrows(file, readFileSync(file, "utf8")))).toEqual([]);
  });

  it("has no files that import each other in a circle, also not for types", () => {
    const importing = new Map(files.map((file) => [file, ownImports(file, readFileSync(file, "utf8"))]));
    expect(circleIn(importing)?.map((file) => path.relative(src, file))).toBeUndefined();
  });

  it("finds a circle", () => {
    const importing = new Map([
      ["a", ["b", "c"]],
      ["b", ["c"]],
      ["c", ["d"]],
      ["d", ["b"]],
    ]);
    expect(circleIn(importing)).toEqual(["b", "c", "d"]);
  });

  it("lists every room of every floor", () => {
    const found = new Set(files.map((file) => placeOf(file)).map(({ floor, room }) => `${floor} ${room}`));
    const listed = Object.entries(rooms).flatMap(([floor, names]) => names.map((room) => `${floor} ${room}`));
    expect(listed.toSorted()).toEqual(Array.from(found).toSorted());
  });

  it("has no room that is too large to look through", () => {
    const sizes = new Map<string, number>();
    for (const file of files) sizes.set(path.dirname(file), (sizes.get(path.dirname(file)) ?? 0) + 1);
    const large = Array.from(sizes).filter(([, size]) => size > mostFiles);
    expect(large.map(([folder, size]) => `${path.relative(src, folder)}: ${size} files`)).toEqual([]);
  });

  it.each([
    ["core/report/x.ts", 'import { window } from "vscode";'],
    ["core/report/x.ts", 'import fs from "node:fs";'],
    ["core/report/x.ts", 'export { a } from "../../node/a";'],
    ["core/x.ts", 'const fs = await import("node:fs");'],
    ["client/estimate/gauge.ts", 'import { walk } from "../../node/files/walk";'],
    ["client/estimate/gauge.ts", 'import { Estimates } from "../../app/estimates";'],
    ["webview/view.ts", 'import type { Uri } from "vscode";'],
    ["languageServer/main.ts", 'import "../client/estimate/gauge";'],
    ["node/files/walk.ts", 'import { gather } from "../../app/situation";'],
    ["node/http.ts", 'import {\n  a,\n  b,\n} from "vscode";'],
    ["core/x.ts", 'import type { GaugeReport } from "./report/gaugeReport";'],
    ["core/report/x.ts", 'import { parse } from "smol-toml";'],
    ["core/memory/x.ts", 'import { Graph } from "./graph/graph";'],
    ["core/tokens/kernel/x.ts", 'import type { CountedFile } from "../tokenCount";'],
    ["core/preset/x.ts", 'import type { SectionCommand } from "../protocol/serverRequests";'],
    ["core/unlisted/x.ts", 'import { say } from "../text";'],
    ["core/report/x.ts", 'import { a } from "../unlisted/a";'],
    ["node/machine/x.ts", 'const { a } = await import("../llamaServer/serverDiscovery");'],
    ["node/reading/x.ts", 'import { walk } from "../files/walk";'],
    ["client/panel/panel.ts", 'import type { LadderRuns } from "../ladder/ladderRuns";'],
    ["client/editor/x.ts", 'import type { CommandParts } from "../commandTable";'],
    ["webview/charts/x.ts", 'import { card } from "../cards/parts";'],
    ["extension.ts", 'const walk = await import("./node/files/walk");'],
    ["app/estimates.ts", 'import { workspace } from "vscode";'],
  ])("finds a wrong arrow: %s with %s", (file, text) => {
    expect(wrongArrows(path.join(src, file), text)).toHaveLength(1);
  });

  it.each([
    ["node/http.ts", 'import { UserError } from "../core/userError";\nimport { execa } from "execa";'],
    ["extension.ts", 'import { Gauge } from "./client/estimate/gauge";\nimport { App } from "./app/app";'],
    ["client/estimate/gauge.ts", 'import type { Estimates } from "../../app/estimates";'],
  ])("lets a right arrow pass: %s", (file, text) => {
    expect(wrongArrows(path.join(src, file), text)).toEqual([]);
  });
});
