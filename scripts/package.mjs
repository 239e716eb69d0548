// `npm run package`: builds for production and packs an installable VSIX, out/llama-gauge.vsix or the file that is named. The files are laid out in a
// folder of their own first, so that the VSIX holds nothing that lies around in the checkout.
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { buildProduct } from "./build.mjs";
import { extensionPage } from "./extensionPage.mjs";
import { notice } from "./notice.mjs";
import { main, run } from "./run.mjs";

const root = path.join(import.meta.dirname, "..");

/** What the extension does not read: the icon's drawing, and the README's picture, which extensionPage.mjs has drawn. */
const unread = /^media\/(icon\.svg|screenshot[.\w]+)$/;

/**
 * `say` hears what is missing for want of a repository: package.json is the one place that knows its address.
 * @returns {Promise<string>} the VSIX
 */
export async function packageExtension({
  target = path.join(root, "out/llama-gauge.vsix"),
  manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")),
  say = () => undefined,
} = {}) {
  const repository = manifest.repository !== undefined;
  mkdirSync(path.join(root, "out"), { recursive: true });
  mkdirSync(path.dirname(target), { recursive: true });
  const stage = mkdtempSync(path.join(root, "out/package-"));
  try {
    const inputs = await buildProduct({ production: true, outdir: path.join(stage, "dist") });
    writeFileSync(path.join(stage, "NOTICE"), notice(root, inputs));
    writeFileSync(path.join(stage, "package.json"), shippedManifest(manifest));
    const wanted =
      /^(\.vscodeignore|README\.md|LICENSE|CHANGELOG\.md|package\.nls(\.[\w-]+)?\.json|media|syntaxes|docs|l10n)$/;
    for (const name of readdirSync(root).filter((name) => wanted.test(name))) {
      const filter = (file) => !unread.test(path.relative(root, file).replaceAll(path.sep, "/"));
      cpSync(path.join(root, name), path.join(stage, name), { recursive: true, filter });
    }
    const page = extensionPage(root, { repository });
    writeFileSync(path.join(stage, "README.md"), page.text);
    const vsce = path.join(root, "node_modules/@vscode/vsce/vsce");
    const args = ["package", "--no-dependencies"];
    if (!repository) args.push("--allow-missing-repository", "--no-rewrite-relative-links");
    await run(process.execPath, [vsce, ...args, "--out", target], { cwd: stage, what: "vsce package" });
    if (!repository) say(`package.json names no "repository": ${withoutRepository(page.unlinked)}`);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
  return target;
}

function withoutRepository(unlinked) {
  const plain = unlinked.length === 0 ? "" : `, and no link to ${unlinked.join(", ")}`;
  return `the extension page has no Repository and no Issues link, no README picture${plain}. See CONTRIBUTING.md.`;
}

/** package.json without what only the checkout needs; the packages are inside the bundles. */
function shippedManifest(manifest) {
  const onlyHere = ["scripts", "dependencies", "devDependencies", "prettier", "private", "overrides"];
  const shipped = Object.entries(manifest).filter(([key]) => !onlyHere.includes(key));
  return JSON.stringify(Object.fromEntries(shipped), undefined, 2);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => {
    const [, , target] = process.argv;
    const file = await packageExtension({
      target: target && path.resolve(target),
      say: (line) => console.log(line),
    });
    console.log(`${path.relative(process.cwd(), file)}  ${(statSync(file).size / 1024).toFixed(0)} KiB`);
  });
}
