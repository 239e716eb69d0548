import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { repository } from "./repository";
import { SeededRandom } from "./seededRandom";

/** Texts of many kinds: these sources, installed packages, and made-up ones of what those lack. */
export function mixedCorpus(): ReadonlyMap<string, readonly string[]> {
  return new Map([
    ["own sources", filesUnder("src", /\.ts$/, 60)],
    ["packages", packageTexts()],
    ["line ends", filesUnder("src/core/tokens", /\.ts$/, 12).map((text) => text.replaceAll("\n", "\r\n"))],
    ["tabs", filesUnder("src/node", /\.ts$/, 12).map((text) => text.replaceAll("  ", "\t"))],
    ["byte order mark", filesUnder("src/languageServer", /\.ts$/, 4).map((text) => `\ufeff${text}`)],
    ["minified", filesUnder("src/core", /\.ts$/, 20).map((text) => text.replace(/\s+/g, " "))],
    ["logs", [log(400)]],
    ["base64", [base64(6000)]],
    ["scripts", scriptTexts()],
  ]);
}

function filesUnder(folder: string, name: RegExp, most: number): string[] {
  const root = path.join(repository, folder);
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => name.test(file))
    .toSorted()
    .slice(0, most)
    .map((file) => readFileSync(path.join(root, file), "utf8"));
}

function packageTexts(): string[] {
  const files = [
    "typescript/lib/lib.es5.d.ts",
    "typescript/lib/lib.dom.iterable.d.ts",
    "typescript/README.md",
    "vitest/LICENSE.md",
    "eslint/README.md",
    "prettier/package.json",
    "esbuild/lib/main.js",
    "typescript/lib/ja/diagnosticMessages.generated.json",
    "typescript/lib/ru/diagnosticMessages.generated.json",
    "typescript/lib/ko/diagnosticMessages.generated.json",
    "typescript/lib/zh-cn/diagnosticMessages.generated.json",
  ];
  return files.map((file) =>
    readFileSync(path.join(repository, "node_modules", file), "utf8").slice(0, 60_000),
  );
}

function log(lines: number): string {
  const random = new SeededRandom(11);
  const levels = ["INFO", "WARN", "ERROR", "DEBUG"];
  return Array.from({ length: lines }, (_, i) => {
    const time = new Date(1_700_000_000_000 + i * 137).toISOString();
    const address = Array.from({ length: 4 }, () => random.below(256)).join(".");
    const hash = random.below(2 ** 31).toString(16);
    return `${time} [${random.pick(levels)}] req=${hash} ${address}:${random.below(65536)} took ${random.below(9999) / 10}ms`;
  }).join("\n");
}

function base64(bytes: number): string {
  const random = new SeededRandom(12);
  return Buffer.from(Array.from({ length: bytes }, () => random.below(256))).toString("base64");
}

function scriptTexts(): string[] {
  const samples = [
    "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。",
    "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心。",
    "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق.",
    "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता प्राप्त है।",
    "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ",
    "Все люди рождаются свободными и равными в своем достоинстве и правах.",
    "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi.",
    "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια.",
    "🎉 Release 2.0 🚀 — thanks to 👩‍💻👨🏿‍🔬 and everyone 🇯🇵🇧🇷! ✅✅✅",
  ];
  return [...samples, ...samples.map((text) => text.normalize("NFD")), samples.join("\n\n").repeat(3)];
}
