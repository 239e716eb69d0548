import { html, nothing, svg, type SVGTemplateResult, type TemplateResult } from "lit";
import { crashRiskText, riskyFiles } from "../../core/report/crashRisk";
import { visibleName } from "../../core/visibleName";
import { count, percent, say } from "../../core/text";
import type { TokenNode } from "../../core/tokens/tokenTree";
import { shorten, textWidth } from "./labels";
import { treemapLayout, type Tile } from "./treemapLayout";
import type { View } from "../view/view";
import { largest } from "../../core/lists";
import { fileKindName } from "../../core/report/names";

const heats = 5;

/** The files by tokens. A picture for the eye; the table twin is the one for keyboard and screen reader. */
export function treemapChart(view: View, top: TokenNode, leftOut: ReadonlySet<string>): TemplateResult {
  const width = view.ui.width;
  const height = Math.round(Math.min(420, Math.max(220, width * 0.3)));
  const tiles = treemapLayout(top, width, height);
  const most = largest(
    tiles.filter((tile) => tile.kind === "file").map((tile) => tile.node.tokens),
    1,
  );
  const label = view.words(say`${count(top.files)} file[s] by tokens; the table lists them.`);
  return html`<svg
    class="treemap"
    width=${width}
    height=${height}
    viewBox="0 0 ${width} ${height}"
    role="img"
    aria-label=${label}
  >
    ${tiles.map((tile) =>
      tile.kind === "folder" ? folderTile(tile) : leafTile(view, tile, { top, most, leftOut }),
    )}
  </svg>`;
}

function folderTile(tile: Tile): SVGTemplateResult {
  return svg`<g class="folder">
    <title>${visibleName(tile.node.label)}</title>
    <rect x=${tile.x} y=${tile.y} width=${tile.width} height=${tile.height} rx="4" />
    ${
      tile.heading
        ? svg`<text x=${tile.x + 7} y=${tile.y + 13.5}>${shorten(visibleName(tile.node.name), tile.width - 14)}</text>`
        : nothing
    }
  </g>`;
}

interface Whole {
  readonly top: TokenNode;
  readonly most: number;
  readonly leftOut: ReadonlySet<string>;
}

function leafTile(view: View, tile: Tile, { top, most, leftOut }: Whole): SVGTemplateResult {
  const { node } = tile;
  const mark = tile.kind === "file" ? node.file?.mark : undefined;
  const path = tile.kind === "file" ? node.file?.file.path : undefined;
  const heat = Math.min(heats, 1 + Math.floor((heats * node.tokens) / most));
  const share = percent((100 * node.tokens) / Math.max(1, top.tokens));
  const title =
    tile.kind === "rest"
      ? view.words(say`${count(tile.files)} small file[s]`)
      : view.words(say`${visibleName(node.label)}: ${count(node.tokens)} token[s], ${share} of the total`);
  const out = path !== undefined && leftOut.has(path);
  const box = { x: tile.x, y: tile.y, width: tile.width, height: tile.height };
  const open = path === undefined ? nothing : () => view.post({ type: "openFile", path });
  const kinds = [
    tile.kind,
    tile.kind === "file" ? `heat${heat}` : "",
    mark === undefined ? "" : "marked",
    out ? "out" : "",
  ];
  return svg`<g class="tile ${kinds.join(" ")}" @click=${open}>
    <title>${[title, ...(mark === undefined ? [] : [view.words(fileKindName(mark.kind)), view.words(mark.evidence)]), ...riskyFiles({ tokens: { files: node.file === undefined ? [] : [node.file] } }).map((file) => view.words(crashRiskText(file))), ...(out ? [view.words(say`not in the prompt`)] : [])].join("\n")}</title>
    <rect x=${box.x} y=${box.y} width=${box.width} height=${box.height} rx="3" />
    ${
      mark === undefined
        ? nothing
        : svg`<rect class="hatch" x=${box.x} y=${box.y} width=${box.width} height=${box.height} rx="3" />`
    }
    ${tileText(view, tile)}
  </g>`;
}

function tileText(view: View, tile: Tile): SVGTemplateResult | typeof nothing {
  if (tile.height < 17 || tile.width < 34) return nothing;
  const name =
    tile.kind === "rest" ? view.words(say`${count(tile.files)} more`) : visibleName(tile.node.name);
  const tokens = tile.kind === "rest" ? "" : view.words(say`${count(tile.node.tokens)}`);
  const inner = tile.width - 14;
  const twoLines = tile.height >= 36;
  const beside = !twoLines && textWidth(name) + textWidth(tokens) + 14 <= inner;
  const left = tile.x + 7;
  const base = twoLines ? tile.y + 16 : tile.y + tile.height / 2 + 4;
  return svg`<text x=${left} y=${base}>${shorten(name, inner)}</text>
    ${twoLines && textWidth(tokens) <= inner ? svg`<text class="dim" x=${left} y=${base + 15}>${tokens}</text>` : nothing}
    ${beside ? svg`<text class="dim" x=${tile.x + tile.width - 7} y=${base} text-anchor="end">${tokens}</text>` : nothing}`;
}
