import { createServer } from "node:net";

/** A TCP port of the loopback interface that nothing listens on at the moment. */
export async function freePort(): Promise<number> {
  const port = await listenOnce(0);
  if (port === undefined) throw new Error("no free port");
  return port;
}

/** Whether a server could listen on this port of the loopback interface. */
export async function isFree(port: number): Promise<boolean> {
  return (await listenOnce(port)) !== undefined;
}

async function listenOnce(port: number): Promise<number | undefined> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(port, "127.0.0.1", resolve);
    });
  } catch {
    return undefined;
  }
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return address === null || typeof address === "string" ? undefined : address.port;
}
