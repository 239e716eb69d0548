import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import path from "node:path";
import { describe, expect, it } from "vitest";

const src = path.join(import.meta.dirname, "../../src");

type Room = "core" | "node" | "app" | "client" | "languageServer" | "webview" | "cli" | "main";

/** Which other rooms, and which packages, a room may import. `src/*.ts` are the composition roots ("main"). */
const allowed: Record<
  Room,
  {
    readonly rooms: readonly Room[];
    /** Rooms of which only types may be imported. */
    readonly types?: readonly Room[];
    readonly packages: (name: string) => boolean;
  }
> = {
  core: { rooms: [], packages: () => false },
  node: { rooms: ["core"], packages: (name) => name !== "vscode" && !isBrowserPackage(name) },
  app: { rooms: ["core", "node"], packages: isNode },
  client: {
    rooms: ["core"],
    types: ["app"],
    packages: (name) => name === "vscode" || name === "vscode-languageclient/node",
  },
  languageServer: {
    rooms: ["core"],
    packages: (name) => name.startsWith("vscode-languageserver") || isNode(name),
  },
  webview: { rooms: ["core"], packages: isBrowserPackage },
  cli: { rooms: ["core", "node", "app"], packages: (name) => name === "commander" || isNode(name) },
  main: {
    rooms: ["core", "app", "client", "cli"],
    packages: (name) => name !== "",
  },
};

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

function roomOf(file: string): Room {
  const [first, second] = path.relative(src, file).split(path.sep);
  return second === undefined ? "main" : (first as Room);
}

/** The wrong arrows in a file, in words. */
export function wrongArrows(file: string, text: string): string[] {
  const room = roomOf(file);
  return importsOf(file, text).flatMap(({ specifier, typesOnly }) => {
    const relative = specifier.startsWith(".");
    const target = relative ? roomOf(path.resolve(path.dirname(file), specifier)) : undefined;
    const fine =
      target === undefined
        ? allowed[room].packages(specifier)
        : target === room ||
          allowed[room].rooms.includes(target) ||
          (typesOnly && allowed[room].types?.includes(target) === true);
    return fine ? [] : [`${path.relative(src, file)} (${room}) imports ${specifier}`];
  });
}

/** Pairs of the client's rooms that import each other, also where it is only types. */
export function clientCircles(files: readonly { readonly file: string; readonly text: string }[]): string[] {
  const client = path.join(src, "client");
  const roomIn = (file: string): string | undefined => {
    const [first, ...rest] = path.relative(client, file).split(path.sep);
    return first === ".." || rest.length === 0 ? undefined : first;
  };
  const arrows = new Set(
    files.flatMap(({ file, text }) =>
      importsOf(file, text).map(({ specifier }) => {
        const target = specifier.startsWith(".")
          ? roomIn(path.resolve(path.dirname(file), specifier))
          : undefined;
        return `${roomIn(file)} ${target}`;
      }),
    ),
  );
  return Array.from(arrows).filter((arrow) => {
    const [from = "", to = ""] = arrow.split(" ");
    return from < to && to !== "undefined" && from !== "undefined" && arrows.has(`${to} ${from}`);
  });
}

describe("the walls of the house", () => {
  const files = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => path.join(src, name));

  it("has only arrows towards core", () => {
    expect(files.length).toBeGreaterThan(10);
    expect(files.flatMap((file) => wrongArrows(file, readFileSync(file, "utf8")))).toEqual([]);
  });

  it("has no two rooms of the client that import each other", () => {
    const client = files.filter((file) => roomOf(file) === "client");
    expect(clientCircles(client.map((file) => ({ file, text: readFileSync(file, "utf8") })))).toEqual([]);
    const two = [
      { file: path.join(src, "client/panel/x.ts"), text: 'import type { A } from "../ladder/a";' },
      { file: path.join(src, "client/ladder/a.ts"), text: 'import { x } from "../panel/x";' },
    ];
    expect(clientCircles(two)).toEqual(["ladder panel"]);
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
