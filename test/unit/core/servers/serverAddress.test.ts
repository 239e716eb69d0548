import { describe, expect, it } from "vitest";
import {
  hostToAsk,
  isEveryAddress,
  isLocal,
  isLoopback,
  portOf,
  serverAddress,
  serverAddressIn,
} from "../../../../src/core/servers/serverAddress";

it.each([
  ["127.0.0.1:9931", "http://127.0.0.1:9931"],
  [" http://localhost:8080/ ", "http://localhost:8080"],
  ["http://host:8080/v1", "http://host:8080"],
  ["http://host:8080/v1/", "http://host:8080"],
  ["https://gpu.example/llama/v1", "https://gpu.example/llama"],
  ["http://gpu.example/llama//", "http://gpu.example/llama"],
  ["http://[::1]:9931", "http://[::1]:9931"],
  ["gpu-box", "http://gpu-box"],
  ["http://host:8080/?model=x#y", "http://host:8080"],
  ["http://0.0.0.0:8080", "http://127.0.0.1:8080"],
  ["http://[::]:8080/v1", "http://127.0.0.1:8080"],
])("%j is the server at %s", (typed, address) => {
  expect(serverAddress(typed)).toBe(address);
});

it.each(["file:///etc/passwd", "http://user:secret@host:80", "http://", "http=//127.0.0.1:8012"])(
  "%j is no server's address",
  (typed) => {
    expect(() => serverAddress(typed)).toThrow();
    expect(serverAddressIn(typed)).toBeUndefined();
  },
);

describe("this machine", () => {
  it.each([
    "127.0.0.1",
    "127.8.9.10",
    "::1",
    "[::1]",
    "0:0:0:0:0:0:0:1",
    "localhost",
    "LOCALHOST.",
    "llama.localhost",
    "::ffff:127.0.0.1",
    "[::ffff:7f00:1]",
  ])("is %s", (host) => {
    expect(isLoopback(host)).toBe(true);
    const inUrl = `https://${hostToAsk(host)}/v1`;
    expect([isLocal(inUrl), isLocal(inUrl.replace("/v1", ":8080"))]).toEqual([true, true]);
  });

  it.each([
    "127.0.0.1.example.org",
    "localhost.example.org",
    "notlocalhost",
    "10.0.0.1",
    "[::2]",
    "::ffff:10.0.0.1",
    "0.0.0.0",
    "",
  ])("is not %s", (host) => {
    expect(isLoopback(host)).toBe(false);
    expect(isLocal(`http://${hostToAsk(host)}:8080`)).toBe(isEveryAddress(host));
  });

  it.each(["0.0.0.0", "::", "[::]", "::ffff:0.0.0.0", "0:0:0:0:0:0:0:0"])("is asked of %s", (host) => {
    expect(hostToAsk(host)).toBe("127.0.0.1");
  });
});

it.each([
  ["http://a", 80],
  ["https://a/x", 443],
  ["http://[::1]:9931", 9931],
])("the port of %s is %d", (url, port) => {
  expect(portOf(url)).toBe(port);
});
