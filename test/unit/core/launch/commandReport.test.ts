import { describe, expect, it } from "vitest";
import { checkCommands, optionAt } from "../../../../src/core/launch/commandReport";
import { joinCommandLine } from "../../../../src/core/launch/joinCommandLine";
import { splitCommandLine } from "../../../../src/core/launch/splitCommandLine";

const script = `#!/bin/sh
# llama-server --bogus is not run
cd /models && LLAMA_ARG_CTX_SIZE=256k \\
  llama-server -m "$MODEL" -c "$CTX" "$@" \\
    -ctv q8_0 -fa off --no-mmap
grep llama-server log.txt
`;

describe("llama-server in scripts", () => {
  it("is found, and its arguments are checked where they stand", () => {
    const [command, ...others] = checkCommands(script, "posix");
    expect(others).toEqual([]);
    const remarks = command?.remarks.map(({ code, start, end }) => [code, script.slice(start, end)]);
    expect(remarks).toEqual([
      ["trailingText", "LLAMA_ARG_CTX_SIZE=256k"],
      ["removedOption", "--no-mmap"],
      ["quantisedVNeedsFlashAttn", "-ctv"],
    ]);
  });

  it("has its options explained", () => {
    const at = script.indexOf("-ctv") + 2;
    expect(optionAt(script, at, "posix")?.option.name).toBe("--cache-type-v");
    expect(optionAt(script, script.indexOf("--bogus") + 2, "posix")).toBeUndefined();
    expect(optionAt("ls -c 5", 4, "posix")).toBeUndefined();
  });

  it.each(["posix", "powershell", "cmd"] as const)("is written so that %s reads the same words", (shell) => {
    const words = [
      "llama-server",
      "-m",
      "a b.gguf",
      "it's",
      'say "x"',
      "",
      "a\\b",
      "blk\\.(1|2)=CPU",
      "日本",
      "$x;y&z|w",
    ];
    expect(splitCommandLine(joinCommandLine(words, shell), shell)).toEqual(words);
  });
});
