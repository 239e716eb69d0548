import { expect, it } from "vitest";
import { serverAddress } from "../../../../src/node/llamaServer/httpAddress";

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
])("%j is the server at %s", (typed, address) => {
  expect(serverAddress(typed)).toBe(address);
});
