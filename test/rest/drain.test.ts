import { once } from "node:events";
import { createServer, get, type RequestListener } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { expect, test } from "@jest/globals";
import { Drain } from "../../src/http/drain";
import { afterTest } from "../support/server";

/** A server that answers with `answer`, its drain and its port. */
async function serverWith(answer: RequestListener, graceMs = 10_000) {
  const server = createServer(answer);
  const drain = new Drain(server, { delayMs: 0, graceMs });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterTest(() => server.closeAllConnections());
  return { server, drain, port: (server.address() as AddressInfo).port };
}

test("a connection that has sent nothing, as browsers open in advance, does not delay the end", async () => {
  const { server, drain, port } = await serverWith((_req, res) => res.end());
  const silent = connect(port, "127.0.0.1");
  await Promise.all([once(silent, "connect"), once(server, "connection")]);
  const closed = once(silent, "close");
  await drain.begin();
  await closed;
});

test("a request that does not end is cut off after the grace period", async () => {
  const { server, drain, port } = await serverWith(() => undefined, 50);
  const request = get({ port, host: "127.0.0.1" });
  const failed = once(request, "error") as Promise<[NodeJS.ErrnoException]>;
  await once(server, "request");
  await drain.begin();
  expect((await failed)[0].code).toBe("ECONNRESET");
});
