import { hierarchy, treemap, treemapSquarify } from "d3-hierarchy";
import type { TokenNode } from "../../core/tokens/tokenTree";

export interface Tile {
  readonly kind: "file" | "folder" | "rest";
  /** Files behind a "rest" tile. */
  readonly files: number;
  readonly node: TokenNode;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Of a folder: whether its heading has room. */
  readonly heading: boolean;
}

interface Item {
  readonly kind: Tile["kind"];
  readonly node: TokenNode;
  readonly tokens: number;
  readonly files: number;
  readonly children?: readonly Item[];
}

const headingHeight = 19;
/** Smaller shares of the whole become one "rest" tile per folder: nobody could read or hit them. */
const smallestShare = 0.002;

/** Boxes whose areas are in proportion to tokens, folders around their files; outer boxes come before inner ones. */
export function treemapLayout(top: TokenNode, width: number, height: number): readonly Tile[] {
  const root = hierarchy<Item>(folderItem(top, top.tokens * smallestShare), (item) => item.children).sum(
    (item) => (item.children === undefined ? item.tokens : 0),
  );
  const hasHeading = (node: { x0: number; x1: number; y0: number; y1: number; depth: number }): boolean =>
    node.depth > 0 && node.x1 - node.x0 > 56 && node.y1 - node.y0 > 46;
  const placed = treemap<Item>()
    .tile(treemapSquarify.ratio(1.6))
    .size([width, height])
    .paddingInner(3)
    .paddingTop((node) => (node.depth === 0 ? 0 : hasHeading(node) ? headingHeight : 0))
    .paddingRight((node) => (node.depth > 0 && hasHeading(node) ? 3 : 0))
    .paddingLeft((node) => (node.depth > 0 && hasHeading(node) ? 3 : 0))
    .paddingBottom((node) => (node.depth > 0 && hasHeading(node) ? 3 : 0))(root);
  return placed
    .descendants()
    .filter((node) => node.depth > 0)
    .map((node) => ({
      kind: node.data.kind,
      files: node.data.files,
      node: node.data.node,
      x: node.x0,
      y: node.y0,
      width: Math.max(0, node.x1 - node.x0),
      height: Math.max(0, node.y1 - node.y0),
      heading: node.data.kind === "folder" && hasHeading(node),
    }));
}

function folderItem(node: TokenNode, threshold: number): Item {
  const shown = node.children.filter((child) => child.tokens >= threshold && child.tokens > 0);
  const small = node.children.filter((child) => child.tokens < threshold && child.tokens > 0);
  const rest = small.reduce((sum, child) => sum + child.tokens, 0);
  const restFiles = small.reduce((sum, child) => sum + child.files, 0);
  return {
    kind: "folder",
    node,
    tokens: node.tokens,
    files: node.files,
    children: [
      ...shown.map((child) =>
        child.file === undefined
          ? folderItem(child, threshold)
          : ({ kind: "file", node: child, tokens: child.tokens, files: 1 } as const),
      ),
      ...(rest === 0 ? [] : [{ kind: "rest", node, tokens: rest, files: restFiles } as const]),
    ],
  };
}
