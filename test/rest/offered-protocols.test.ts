import { expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { rawRequest } from "../support/raw";

const running = useApp();

/** The headers by which Java's HttpClient and `curl --http2` offer HTTP/2. */
const OFFER = {
  Connection: "Upgrade, HTTP2-Settings",
  Upgrade: "h2c",
  "HTTP2-Settings": "AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA",
};

const send = (method: string, path: string, headers: Readonly<Record<string, string>>, body?: object) =>
  rawRequest(running.url, {
    ...{ method, path },
    headers: { "X-API-Key": running.secretKey, "Content-Type": "application/json", ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });

test("requests that offer HTTP/2 are answered with HTTP/1.1, also with a body and one after another", async () => {
  const created = await send("POST", "/rest/v1/assistants", OFFER, { name: "Ada" });
  expect(created.status).toBe(200);
  const { id } = JSON.parse(created.text) as { id: string };
  const read = await send("GET", `/rest/v1/assistants/${id}`, OFFER);
  expect(JSON.parse(read.text)).toMatchObject({ id, name: "Ada" });
  const asked = await send("POST", "/graphql", OFFER, { query: `{ assistant(id: "${id}") { name } }` });
  expect(JSON.parse(asked.text)).toMatchObject({ data: { assistant: { name: "Ada" } } });
});

test.each(["TLS/1.3", "h2c, spdy/3", "web-socket", ""])("an offer of %j is ignored", async (protocol) => {
  const answer = await send("GET", "/rest/v1/assistants", { Connection: "Upgrade", Upgrade: protocol });
  expect(answer.status).toBe(200);
});
