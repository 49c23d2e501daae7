import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import express from "express";
import { Credentials, KEYS_CHANNEL } from "../../src/account/auth/credentials";
import { Crypto } from "../../src/platform/crypto";
import { Listener } from "../../src/platform/database/notifications/listener";
import { harden } from "../../src/http/answers/answer-headers";
import { anonymousSettings } from "../../src/http/callers/settings-access";
import { widgetPages } from "../../src/http/pages/widget-pages";
import { useApp } from "../support/app";
import { configOf } from "../support/config";
import { newAssistant, UNKNOWN_ID } from "../support/factories";

const running = useApp();
let publicDir: string;
let listener: Listener;
let server: Server;
let url: string;

/** The pages of the service, with asset files of this test. */
beforeAll(async () => {
  publicDir = await mkdtemp(join(tmpdir(), "parley-pages-"));
  const { database } = running.app;
  listener = new Listener(running.database.url, [KEYS_CHANNEL]);
  await listener.start();
  const credentials = new Credentials(database, new Crypto(configOf().ENCRYPTION_KEYS!), listener);
  const defaultOrganization = async () => (await database.defaultOrganizationId())!;
  const app = express().disable("etag");
  app.use(harden);
  app.use(
    widgetPages({
      publicDir,
      scopeOf: (id) => database.scope(id),
      callers: {
        authenticate: (_request, _response, headers = {}) => credentials.caller(headers),
        anonymousSettings: async (request) =>
          anonymousSettings(request, "loopback", url, await defaultOrganization()),
        defaultOrganization,
      },
    }),
  );
  app.use(
    ((error: { code?: string }, _request, response, _next) =>
      void response.status(418).json({ code: error.code })) as express.ErrorRequestHandler,
  );
  server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
  await listener.stop();
  await rm(publicDir, { recursive: true });
});

const get = (path: string, headers: Record<string, string> = {}) => fetch(url + path, { headers });
const policyOf = (response: Response) =>
  Object.fromEntries(
    response.headers
      .get("content-security-policy")!
      .split("; ")
      .map((line) => [line.split(" ")[0], line.split(" ").slice(1).join(" ")]),
  );
const frameOf = (query: Record<string, string>) =>
  get(`/widget/frame?${new URLSearchParams(query).toString()}`);
const ancestorsOf = async (query: Record<string, string>) =>
  policyOf(await frameOf(query))["frame-ancestors"];
async function allowing(...origins: string[]): Promise<string> {
  const id = await newAssistant(running.api);
  await running.api.gql(
    "mutation ($id: ID!, $origins: [String!]!) { updateAllowedOrigins(assistantId: $id, origins: $origins) { mode } }",
    { id, origins },
  );
  return id;
}

test.each(["/widget/companion-widget.js", "/widget/frame", "/widget/voice", "/widget/demo"])(
  "if the widget is not built, %s says how to build it",
  async (path) => {
    const response = await get(path);
    expect([response.status, response.headers.get("cache-control")]).toEqual([503, "no-store"]);
    expect(await response.text()).toMatch("npm run build");
  },
);

describe("if the widget is built", () => {
  beforeAll(async () => {
    await mkdir(join(publicDir, "widget/assets"), { recursive: true });
    const DATA = '<script type="application/json" id="demo-data">null</script>';
    await writeFile(join(publicDir, "widget/demo.html"), `<title>Demo</title>${DATA}`);
    const files = ["companion-widget.js", "frame.html", "voice.html", "assets/frame.js"];
    for (const file of files) await writeFile(join(publicDir, "widget", file), "built");
  });

  test("the script is available to pages of any origin and revalidated each time", async () => {
    const { status, headers } = await get("/widget/companion-widget.js");
    expect([status, headers.get("content-type")]).toEqual([200, "text/javascript; charset=utf-8"]);
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("cross-origin-resource-policy")).toBe("cross-origin");
    expect(headers.get("cache-control")).toBe("no-cache");
    const again = await get("/widget/companion-widget.js", {
      "If-None-Match": headers.get("etag")!,
      "Cache-Control": "max-age=0",
    });
    expect(again.status).toBe(304);
  });

  test.each(["/widget/frame", "/widget/voice", "/widget/demo"])(
    "%s runs only our scripts and connects only to us",
    async (path) => {
      const response = await get(path);
      expect([response.status, response.headers.get("content-type")]).toEqual([
        200,
        "text/html; charset=utf-8",
      ]);
      expect(policyOf(response)).toMatchObject({
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "connect-src": "'self' ws: wss:",
        "base-uri": "'none'",
        "form-action": "'none'",
      });
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    },
  );

  test("the frame is refused with a SECRET key", async () => {
    const assistantId = await newAssistant(running.api);
    const response = await frameOf({ publicKey: running.secretKey, assistantId });
    expect(await response.json()).toEqual({ code: "FORBIDDEN" });
  });

  test.each(["/widget/voice", "/widget/demo"])("%s cannot be framed", async (path) => {
    const response = await get(path);
    expect(policyOf(response)["frame-ancestors"]).toBe("'none'");
    expect(response.headers.get("x-frame-options")).toBe("DENY");
  });

  test("the frame can be embedded by the assistant's allowed origins and our own only", async () => {
    const publicKey = running.publicKey;
    const assistantId = await allowing("https://shop.example", "http://localhost:3000");
    const response = await frameOf({ publicKey, assistantId });
    expect(policyOf(response)["frame-ancestors"]).toBe("'self' https://shop.example http://localhost:3000");
    for (const name of ["x-frame-options", "cross-origin-opener-policy", "permissions-policy"])
      expect([name, response.headers.get(name)]).toEqual([name, null]);
    const { createDeployment } = await running.api.gql(
      "mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { id } }",
      { input: { type: "TEXT_BUBBLE", assistantId } },
    );
    expect(await ancestorsOf({ publicKey, deploymentId: createDeployment.id })).toMatch("shop.example");
    expect(await ancestorsOf({ publicKey, assistantId: await allowing() })).toBe("* file:");
  });

  test("the frame of an unknown assistant can be embedded anywhere, to show that it is unavailable", async () => {
    const assistantId = await allowing("https://shop.example");
    const { publicKey: theirs } = await running.otherOrganization();
    for (const query of [
      {},
      { assistantId },
      { publicKey: running.publicKey },
      { publicKey: running.publicKey, assistantId: UNKNOWN_ID },
      { publicKey: running.publicKey, assistantId, deploymentId: UNKNOWN_ID },
      { publicKey: theirs, assistantId },
      { publicKey: "unknown", assistantId },
    ] as Record<string, string>[]) {
      const response = await frameOf(query);
      expect([query, response.status, policyOf(response)["frame-ancestors"]]).toEqual([
        query,
        200,
        "* file:",
      ]);
      expect(await response.text()).toBe("built");
    }
  });

  describe("the demo page", () => {
    /** Data that the page is given. */
    async function given(query = "", headers: Record<string, string> = {}) {
      const html = await (await get(`/widget/demo${query}`, headers)).text();
      return JSON.parse(/id="demo-data">(.*)<\/script>/.exec(html)![1]!) as {
        publicKey: string | null;
        assistantId: string | null;
        assistants: { id: string; name: string }[];
      };
    }
    const proxied = { "X-Forwarded-For": "203.0.113.1" };

    test("contains a key and all assistants for callers on this machine", async () => {
      const id = await newAssistant(running.api, { name: "</script><b>Ada" });
      const { publicKey, assistants } = await given();
      expect(publicKey).toBe(running.publicKey);
      expect(assistants).toContainEqual({ id, name: "</script><b>Ada" });
      expect(await given(`?assistantId=${id}`)).toMatchObject({ publicKey, assistantId: id });
    });

    test("contains only the named assistant for other callers, and nothing without one", async () => {
      const id = await newAssistant(running.api, { name: "Ada" });
      const nothing = { publicKey: null, assistantId: null, assistants: [] };
      expect(await given("", proxied)).toEqual(nothing);
      expect(await given(`?assistantId=${UNKNOWN_ID}`, proxied)).toEqual(nothing);
      const { api } = await running.otherOrganization();
      expect(await given(`?assistantId=${await newAssistant(api)}`, proxied)).toEqual(nothing);
      expect(await given(`?assistantId=${id}`, proxied)).toEqual({
        publicKey: running.publicKey,
        assistantId: id,
        assistants: [{ id, name: "Ada" }],
      });
    });

    test("can create one assistant if there is none, for callers on this machine only", async () => {
      const make = (headers: Record<string, string> = {}) =>
        fetch(`${url}/widget/demo/assistant`, { method: "POST", headers });
      for (const headers of [proxied, { Origin: "https://evil.example" }])
        expect((await make(headers)).status).toBe(418);
      const { data } = await running.api.get("/rest/v1/assistants?take=100", 200);
      for (const { id } of data) await running.api.delete(`/rest/v1/assistants/${id}`, 200);
      expect((await given()).assistants).toEqual([]);
      const made = await make();
      const { id } = (await made.json()) as { id: string };
      expect([made.status, (await given()).assistants.map((one) => one.id)]).toEqual([201, [id]]);
      expect(await (await make()).json()).toEqual({ id });
      expect((await given()).assistants).toHaveLength(1);
    });
  });
});
