// Rules and paths that are easy to get wrong.
export const folders = [
  "a/b/c",
  "build/deep",
  "foo/bar",
  "x y",
  "é",
  "日本",
  "a/node_modules/m",
  ".hidden",
  "[a]",
  "a/b/build",
];

/** Folders end with a slash; the files need not exist. */
export const paths = [
  ..."a/ a/b/ a/b/c/ build/ build/deep/ foo/ foo/bar/ é/ 日本/ a/node_modules/ .hidden/ [a]/ a/b/build/".split(
    " ",
  ),
  ..."a/x.log a/b/x.log a/b/c/keep.log x.log keep.log build/x build/deep/keep foo/bar/x foobar foo/x".split(
    " ",
  ),
  ..."é.txt 日本.txt é/x 日本/x ee.txt ab.txt .env .hidden/x .hidden/.x a/.env [a]/x [a [a].txt a]b a-b a^b !x #x".split(
    " ",
  ),
  ..."7.txt x7.txt A.txt a.TXT README readme a/README a/node_modules/m/i.js node_modules a/b/build/x a/b.c a/b/c.d".split(
    " ",
  ),
  ..."a\\b \\x $x x$ (x) x+y x|y {x,y} x.y.z a/b/c/d/e/f".split(" "),
  "x y/",
  "x y/z",
  "x ",
  " x",
  "a/x ",
  "tab\tx",
  "new\nline",
];

const rules = [
  ..."*.log /*.log a/*.log a/**/*.log **/x.log **/b/** a/** a/**/ /a /a/ a/ a/b a/b/ /a/b/c build build/ /build/ **/build".split(
    " ",
  ),
  ..."* */ ** **/ /** /* /*/ *.* .* .*/ ?.txt ??.txt ???.txt [a].txt [!a]* [^a]* [a-c]* [a [a-] []a]* [!]]* [[:digit:]]*".split(
    " ",
  ),
  ..."[[:alpha:]][[:digit:]].txt [[:nope:]] [[:upper:]]* [a\\]]* [\\a]* [a-\\c]* \\[a\\] \\[a\\].txt \\*.log a\\b a\\\\b \\x \\\\x".split(
    " ",
  ),
  ..."\\#x #x \\!x !x !*.log !keep.log !a/ !a/b/ !build/deep/ !/a !.env {x,y} $x x$ (x) x+y x|y é* 日* 日?? ?????? é/ a?b".split(
    " ",
  ),
  ..."a[/]b a*c a/*/c a/*/*/d* a/**/d/** foo** foo**/bar **foo foo/**bar **/*/c a**c a/***/c ***/c x\\ a\\ x\\\\ / // a//b".split(
    " ",
  ),
  ..."/ [ ] [] [!] [^ \\ !\\ ! !! # ./a ../a a/. a/.. a/./b README readme A.txt *.TXT a/b.c *.c* .hidden .hidden/* !.hidden/.x".split(
    " ",
  ),
  "x y",
  "x y/",
  "x ",
  "x\\ ",
  " x",
  "tab\tx",
  "a\r",
  "*.log\r",
  "\uFEFF*.log",
  "a/x\\ ",
];

const combined = [
  ["*", "!keep.log"],
  ["*", "!*/", "!keep.log"],
  ["a/*", "!a/b", "a/b/*", "!a/b/c"],
  ["a/", "!a/b/c/keep.log"],
  ["/*", "!/foo", "/foo/*", "!/foo/bar"],
  ["build/", "!build/"],
  ["!build/", "build/"],
  ["**/build/**", "!**/build/deep/**"],
  ["*.log", "!a/**/keep.log", "a/b/"],
  ["[a-z]*", "![[:digit:]]*", "!é*"],
  [".*", "!.env", "!.hidden/"],
];

export const handPicked = [
  ...rules.map((rule) => `${rule}\n`),
  ...combined.map((lines) => `${lines.join("\n")}\n`),
];

/** Some of the rules above and some put together of parts, always the same for a seed. */
export function randomRules(seed) {
  let state = (seed + 1) * 2_654_435_761;
  const below = (count) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) >>> 0;
    return state % count;
  };
  const parts = [
    "a",
    "b",
    "c",
    "x",
    "foo",
    "build",
    "*",
    "**",
    "?",
    "/",
    "/",
    ".",
    "log",
    "[a-c]",
    "[!x]",
    "\\",
    "é",
    "-",
    "**/",
    "/**",
    "keep",
    " ",
  ];
  const lines = Array.from({ length: 1 + below(5) }, () => {
    if (below(2) === 0) return rules[below(rules.length)];
    const text = Array.from({ length: 1 + below(6) }, () => parts[below(parts.length)]).join("");
    return `${below(5) === 0 ? "!" : ""}${text}`;
  });
  return `${lines.join("\n")}\n`;
}
