import { expect, it } from "vitest";
import { configOptions } from "../../../../src/core/preset/systemConfig";

const config = (...texts: readonly string[]): unknown =>
  configOptions(texts.map((text, index) => ({ file: `/etc/${index}.ini`, text })));

// what llama-server 11669 made of each, seen in its /props
it.each([
  ["ctx-size = 1024\n[*]\nnp = 3\nbogus-key = 4\n[llama-server]\nub = 64\n", { ctxSize: 1024, parallel: 3 }],
  [
    "ctx-size = 2048\nctx-size = 768\n[*]\nctx-size = 1280\nnp = 1\n[default]\nnp = 2\n",
    { ctxSize: 768, parallel: 2 },
  ],
  ["[*]\nctx-size = 1280\nnp = 1\n[default]\nnp=2\nctx-size = 512\n", { ctxSize: 512, parallel: 2 }],
])("reads %j", (text, expected) => {
  expect(config(text)).toEqual(expected);
});

it("lets the later file win, and keeps address and cache types", () => {
  expect(config("c = 512\nport = 9000\n", "[*]\nc = 1024\nctk = q8_0\nno-kv-offload = on\n")).toEqual({
    ctxSize: 1024,
    port: 9000,
    cacheTypeK: "q8_0",
    kvOffload: false,
  });
});

it("reads on behind what it cannot read", () => {
  expect(config("hello world\nc = x\nnp = 2\n\0\n")).toEqual({ parallel: 2 });
});
