import js from "@eslint/js";
import tseslint from "typescript-eslint";

const namedExports = { selector: "ExportDefaultDeclaration", message: "Name your exports." };
const ownTimeLimits = {
  selector:
    "Program > VariableDeclaration > VariableDeclarator > CallExpression[callee.object.name='AbortSignal'][callee.property.name='timeout']",
  message: "Its time begins when the file is loaded, which may be long before its tests run.",
};
const longSpreads = {
  selector:
    "CallExpression:matches([callee.object.name='Math'], [callee.property.name=/^(push|unshift|splice|concat|fromCharCode|fromCodePoint)$/]) > SpreadElement:not([argument.type='ArrayExpression'])",
  message: "A long list ends this in a RangeError: largest, smallest and append of core/lists.",
};

const screen = "client/editor/screen.ts takes only text that cannot be read as markup.";
const otherWaysToTheScreen = [
  {
    selector:
      "MemberExpression[object.name='window'][property.name=/^(show(Error|Warning|Information)Message|withProgress|setStatusBarMessage|(show|create)QuickPick|(show|create)InputBox|createStatusBarItem)$/]",
    message: screen,
  },
  { selector: "NewExpression[callee.name=/^(MarkdownString|TreeItem|Diagnostic)$/]", message: screen },
  {
    selector:
      "AssignmentExpression > MemberExpression.left[property.name=/^(tooltip|description|accessibilityInformation|isTrusted|supportHtml|supportThemeIcons)$/]",
    message: screen,
  },
];
const forcedText = {
  selector: "TSAsExpression > TSTypeReference[typeName.name=/^(Shown|Markdown)$/]",
  message: "Only core/shown.ts and core/markdown.ts know what makes text harmless.",
};

const weakSignals = {
  selector: "MemberExpression[object.name='AbortSignal'][property.name=/^(any|timeout)$/]",
  message: "A signal that is collected never comes (core/signals.ts): withAny, or withLimit of node/waiting.",
};

const unboundedReads = ["node:fs/promises", "node:fs"].map((name) => ({
  name,
  importNames: ["readFile", "readFileSync", "createReadStream"],
  message: "It may be a FIFO, a device or larger than memory: node/reading/regularFile.",
}));

const ownPrograms = ["execa", "child_process", "node:child_process", "cross-spawn"].map((name) => ({
  name,
  message: "node/process starts programs, and ends all that they start.",
}));

const inSources = [namedExports, ownTimeLimits, longSpreads, weakSignals];

export default tseslint.config(
  { ignores: ["dist/", "out/", ".cache/", ".vscode-test/", "**/fixtures/"] },
  {
    files: ["src/**/*.ts", "test/**/*.ts", "bench/**/*.ts"],
    extends: [js.configs.recommended, ...tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { project: "./tsconfig.lint.json", tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/no-non-null-assertion": "error",
      "no-restricted-syntax": ["error", namedExports, ownTimeLimits],
      "no-console": "error",
      eqeqeq: "error",
    },
  },
  {
    files: ["src/**/*.ts"],
    rules: { "no-restricted-syntax": ["error", ...inSources, forcedText] },
  },
  {
    // what nobody waits for is heard all the same: client/editor/background
    files: ["src/**/*.ts"],
    rules: {
      "@typescript-eslint/no-floating-promises": ["error", { ignoreVoid: false, checkThenables: true }],
    },
  },
  // the last one that fits a file is the only one
  {
    files: ["src/**/*.ts"],
    rules: { "no-restricted-imports": ["error", { paths: [...unboundedReads, ...ownPrograms] }] },
  },
  {
    // what they read is the system's, under /proc and /sys
    files: ["src/node/{machine,monitor}/**/*.ts", "src/node/ladder/ladderMemory.ts"],
    rules: { "no-restricted-imports": ["error", { paths: ownPrograms }] },
  },
  {
    // where a program is started, and its whole tree ended
    files: ["src/node/process/*.ts"],
    rules: { "no-restricted-imports": ["error", { paths: unboundedReads }] },
  },
  {
    files: ["src/client/**/*.ts", "src/extension*.ts"],
    rules: {
      "no-restricted-syntax": ["error", ...inSources, forcedText, ...otherWaysToTheScreen],
    },
  },
  {
    files: ["src/client/editor/screen.ts"],
    rules: { "no-restricted-syntax": ["error", ...inSources, forcedText] },
  },
  {
    files: ["src/core/shown.ts", "src/core/markdown.ts"],
    rules: { "no-restricted-syntax": ["error", ...inSources] },
  },
  { files: ["src/cli.ts", "test/**/*.ts", "bench/**/*.ts"], rules: { "no-console": "off" } },
  {
    files: ["test/ui/**/*.ts"],
    rules: {
      "no-restricted-syntax": [
        "error",
        namedExports,
        ownTimeLimits,
        {
          selector:
            "CallExpression[callee.name='expect'] > AwaitExpression > CallExpression[callee.property.name=/^(count|innerText|allInnerTexts|textContent|getAttribute|inputValue|isChecked|isVisible|isEnabled)$/]",
          message: "A page is drawn a frame after what it was told: expect.poll.",
        },
      ],
    },
  },
  {
    files: ["test/editor/**/*.ts"],
    rules: {
      "no-restricted-syntax": [
        "error",
        namedExports,
        ownTimeLimits,
        {
          selector: "Program > ExpressionStatement > CallExpression[callee.name=/^(before|after)(Each)?$/]",
          message: "Outside of a suite it is a hook of the whole run, and other suites undo what it sets.",
        },
      ],
    },
  },
  {
    files: ["scripts/**/*.mjs", "bench/**/*.mjs", "test/**/*.mjs"],
    extends: [js.configs.recommended],
    languageOptions: {
      globals: Object.fromEntries(
        [
          "process",
          "console",
          "URL",
          "Buffer",
          "fetch",
          "setTimeout",
          "clearTimeout",
          "AbortController",
          "AbortSignal",
        ].map((name) => [name, "readonly"]),
      ),
    },
  },
);
