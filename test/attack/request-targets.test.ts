import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { rawHead, type ReceivedAnswer } from "../support/raw";

const running = useApp({ OPEN_SETTINGS: "loopback" });
const SETTINGS = "/rest/v1/settings";

const ask = (line: string, headers: readonly string[]) => rawHead(running.url, line, headers);
const host = () => `Host: ${new URL(running.url).host}`;
const key = () => `X-API-Key: ${running.secretKey}`;
const own = () => `http://${new URL(running.url).host}`;

describe("a request target in absolute form", () => {
  test.each([
    "/rest/v1/assistants?take=5",
    "/rest/v1/nothing",
    "/graphql?query=%7B__typename%7D",
    "/health/live",
    "/rest/docs",
    "/?a=1",
    "/mcp",
  ])("is answered as the path %s is", async (path) => {
    const headers = [host(), key(), "Accept: application/json", "Apollo-Require-Preflight: true"];
    const shown = ({ status, headers, body }: ReceivedAnswer) => [
      status,
      headers.includes("access-control-allow-origin"),
      body.replace(/"requestId":"[^"]+"/, ""),
    ];
    const plain = await ask(`GET ${path}`, headers);
    for (const target of [own() + path, `HTTPS://other.example${path}`])
      expect([target, shown(await ask(`GET ${target}`, headers))]).toEqual([target, shown(plain)]);
    const [preflight, absolute] = [`OPTIONS ${path}`, `OPTIONS ${own()}${path}`];
    expect(shown(await ask(absolute, headers))).toEqual(shown(await ask(preflight, headers)));
  });

  test("without a path means the first page", async () => {
    for (const target of [own(), `${own()}?a=1`])
      expect((await ask(`GET ${target}`, [host()])).status).toBe(200);
  });

  test("names the host, whatever the header Host says", async () => {
    const local = "Host: localhost";
    expect((await ask(`GET http://localhost${SETTINGS}`, ["Host: evil.example"])).status).toBe(201);
    expect((await ask(`GET http://evil.example${SETTINGS}`, [local])).status).toBe(403);
    expect((await ask(`GET ${SETTINGS}`, [local])).status).toBe(201);
  });
});
