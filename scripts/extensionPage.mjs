// The README as VS Code shows it on the page of the installed extension. That page takes pictures and links from https
// addresses only: it drops relative ones and, since VS Code 1.103, pictures embedded as data as well
// (https://github.com/microsoft/vscode-vsce/issues/1196); its content security policy forbids colours too. So a picture is
// drawn with characters, which media/NAME.drawn.md holds for media/NAME.png, and the pages of the documentation follow the
// README, where links find them.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

/** A fenced block, a link or picture (its text may hold code), or code: the first and the last are left as they are. */
const pieces =
  /```[\s\S]*?```|(?<picture>!?)\[(?<text>(?:`[^`]*`|[^\][`])*)\]\((?<target>[^)\s]+)\)|(?<ticks>`+)(?:(?!\n\n)[\s\S])+?(?<!`)\k<ticks>(?!`)/g;

/**
 * @param {string} root the checkout
 * @param {{ repository: boolean }} options whether vsce has an address to make links and pictures absolute with
 * @returns {{ text: string, unlinked: readonly string[] }} the page, and where links led that are plain text now
 */
export function extensionPage(root, { repository }) {
  const read = (page) => readFileSync(path.join(root, page), "utf8");
  const drawing = (picture) => {
    const file = path.join(root, picture.replace(/\.\w+$/, ".drawn.md"));
    return existsSync(file)
      ? `<div id="${idOf(picture)}">\n\n${readFileSync(file, "utf8")}\n</div>`
      : undefined;
  };
  if (repository) {
    const text = replaceLinks(read("README.md"), ({ whole, picture, target }) => {
      const drawn = picture && !isAddress(target) ? drawing(target) : undefined;
      return drawn === undefined
        ? whole
        : `${whole}\n\n<details><summary>The same, drawn with characters</summary>\n\n${drawn}\n\n</details>`;
    });
    return { text, unlinked: [] };
  }

  const pages = ["README.md"];
  const unlinked = new Set();
  const withoutAddresses = (page) =>
    replaceLinks(headed(page, read(page)), ({ whole, picture, text, target }) => {
      if (isAddress(target)) return whole;
      const [file, fragment] = target.split("#");
      const there = file === "" ? page : path.posix.join(path.posix.dirname(page), file);
      if (picture) return drawing(there) ?? `_${text}_`;
      if (there !== "README.md" && !(/^docs\/.*\.md$/.test(there) && existsSync(path.join(root, there)))) {
        unlinked.add(there);
        return text;
      }
      if (!pages.includes(there)) pages.push(there);
      return `[${text}](#${anchorOf(there, fragment)})`;
    });
  const texts = [];
  // pages that these lead to are found on the way
  for (let i = 0; i < pages.length; i++) texts.push(withoutAddresses(pages[i]));
  return { text: texts.join("\n---\n\n"), unlinked: [...unlinked] };
}

const isAddress = (target) => /^[a-z]+:/i.test(target);

const idOf = (file) => file.replace(/\.\w+$/, "").replaceAll("/", "-");

/** Of a heading, or of the page. The README comes first, so its headings have the names that VS Code gives them. */
function anchorOf(page, fragment) {
  if (page === "README.md") return fragment ?? "";
  return fragment === undefined ? idOf(page) : `${idOf(page)}--${fragment}`;
}

function replaceLinks(text, change) {
  return text.replaceAll(pieces, (whole, ...rest) => {
    const { picture, text, target } = rest.at(-1);
    return target === undefined ? whole : change({ whole, picture: picture === "!", text, target });
  });
}

/** The page with names for its headings that no other page has. */
function headed(page, text) {
  if (page === "README.md") return text;
  const names = [];
  let fenced = false;
  const lines = text.split("\n").map((line) => {
    if (/^\s*```/.test(line)) fenced = !fenced;
    const [, level, heading] = (!fenced && /^(#+) (.+)$/.exec(line)) || [];
    if (heading === undefined) return line;
    const slug = slugOf(heading);
    const before = names.filter((name) => name === slug).length;
    names.push(slug);
    const ids = [anchorOf(page, before === 0 ? slug : `${slug}-${before}`)];
    if (names.length === 1) ids.push(anchorOf(page));
    return `${level} ${ids.map((id) => `<span id="${id}"></span>`).join("")}${heading}`;
  });
  return lines.join("\n");
}

/** As GitHub names a heading. */
function slugOf(heading) {
  const text = heading.replaceAll(pieces, (whole, ...rest) => rest.at(-1).text ?? whole);
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}
