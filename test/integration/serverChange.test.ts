import { expect, it } from "vitest";
import type { ServerFacts } from "../../src/core/acceptance/serverFacts";
import { known } from "../../src/core/known";
import { serverHasChanged } from "../../src/core/report/serverChange";
import { HttpLlamaServer } from "../../src/node/llamaServer/llamaServer";
import { forgedModel } from "../support/forge/forgeModel";
import { freePort } from "../support/freePort";
import { startLlamaServer } from "../support/llamaCpp";

const { signal } = new AbortController();

it("is another server with another model at the same address, and when it has ended", async () => {
  const port = await freePort();
  const [model, other] = [await forgedModel(), await forgedModel({ size: "slope" })];
  const start = (file: string): ReturnType<typeof startLlamaServer> =>
    startLlamaServer({ model: file, port, args: ["-c", "1024", "-np", "1", "-t", "1"] });
  const changed = (server: HttpLlamaServer, facts: ServerFacts): Promise<boolean> =>
    serverHasChanged({ server: known({ server, facts }) }, signal);

  const first = await start(model);
  const server = new HttpLlamaServer({ url: first.url });
  const facts = await server.facts(signal);
  expect(await changed(server, facts)).toBe(false);
  await first.stop();
  expect(await changed(server, facts)).toBe(true);
  const another = await start(other);
  expect(await changed(server, facts)).toBe(true);
  await another.stop();
});
