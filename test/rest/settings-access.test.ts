import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startApp, useApp } from "../support/app";
import { withoutId } from "../support/errors";
import { UNKNOWN_ID } from "../support/factories";
import { closeRaw, rawRequest } from "../support/raw";

const SETTINGS = "/rest/v1/settings";
const running = useApp();
const destination = { url: "https://example.com/events", secret: "a secret" };
const nobody = () => running.api.as({});
let theirs: { id: string };

beforeAll(async () => {
  const { api } = await running.otherOrganization();
  theirs = await api.post(SETTINGS, destination, 201);
});
afterAll(closeRaw);

/** Status and code of GET /settings with these headers and no credential. */
async function ask(headers: Record<string, string>, url = running.url) {
  const { status, text } = await rawRequest(url, { path: SETTINGS, headers });
  return [status, (JSON.parse(text) as { code?: string }).code];
}
const port = () => new URL(running.url).port;

describe("the settings paths without a credential", () => {
  test("act on the default organization, for callers on this machine", async () => {
    const made = await nobody().post(SETTINGS, { ...destination, name: "Mine" }, 201);
    expect(await nobody().get(SETTINGS, 201)).toEqual([made]);
    expect(await running.api.get(SETTINGS, 201)).toEqual([made]);
    expect(await nobody().patch(`${SETTINGS}/${made.id}`, { name: null }, 200)).toMatchObject({ name: null });
    expect(await nobody().get(`${SETTINGS}/secret`, 201)).toEqual(expect.stringMatching(/^whsec_/));
    await nobody().delete(`${SETTINGS}/${made.id}`, 200);
    expect(await running.api.get(SETTINGS, 201)).toEqual([]);
  });

  test("never act on another organization", async () => {
    const unknown = await nobody().delete(`${SETTINGS}/${UNKNOWN_ID}`, 404);
    for (const method of ["PATCH", "DELETE"]) {
      const { status, body } = await nobody().request(method, `${SETTINGS}/${theirs.id}`, {
        name: "Mine now",
      });
      expect([status, body.code, withoutId(body.message, theirs.id)]).toEqual([
        404,
        unknown.code,
        withoutId(unknown.message, UNKNOWN_ID),
      ]);
    }
  });

  test("give no access to other paths or GraphQL", async () => {
    await nobody().get("/rest/v1/organization", 401);
    await nobody().get("/rest/v1/organization/keys", 401);
    await nobody().get("/rest/v1/assistants", 401);
    const { extensions } = await nobody()
      .as({ "apollo-require-preflight": "1" })
      .gqlError("{ webhookDestinations { secret } }");
    expect(extensions.code).toBe("UNAUTHENTICATED");
  });

  test("answer only under this service's own host names", async () => {
    for (const host of [`localhost:${port()}`, `127.0.0.1:${port()}`, "localhost", `[::1]:${port()}`])
      expect([host, ...(await ask({ Host: host }))]).toEqual([host, 201, undefined]);
    for (const host of [
      "evil.example",
      `evil.example:${port()}`,
      "localhost.evil.example",
      "127.0.0.1.evil.example",
      "10.0.0.1",
      "0.0.0.0",
    ])
      expect([host, ...(await ask({ Host: host }))]).toEqual([host, 403, "FORBIDDEN"]);
  });

  test("do not answer pages of other sites", async () => {
    for (const origin of [
      "https://evil.example",
      "null",
      "http://localhost:1",
      `https://127.0.0.1:${port()}`,
    ])
      expect([origin, ...(await ask({ Origin: origin }))]).toEqual([origin, 403, "FORBIDDEN"]);
    for (const site of ["cross-site", "same-site"])
      expect([site, ...(await ask({ "Sec-Fetch-Site": site }))]).toEqual([site, 403, "FORBIDDEN"]);
    expect(await ask({ Origin: running.url })).toEqual([201, undefined]);
    for (const site of ["same-origin", "none"])
      expect(await ask({ "Sec-Fetch-Site": site })).toEqual([201, undefined]);
  });

  test("are closed to requests through a proxy", async () => {
    const added = [
      ...["X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded"],
      ...[
        "Forwarded",
        "Via",
        "X-Real-IP",
        "X-Client-IP",
        "True-Client-IP",
        "X-Cluster-Client-IP",
        "Fly-Client-IP",
      ],
      ...[
        "CF-Connecting-IP",
        "CF-Ray",
        "CDN-Loop",
        "X-Original-Host",
        "X-Envoy-External-Address",
        "X-ARR-LOG-ID",
      ],
    ];
    for (const name of added)
      expect([name, ...(await ask({ [name]: "203.0.113.7" }))]).toEqual([name, 401, "UNAUTHENTICATED"]);
  });

  test("stay open to headers that programs on this machine send", async () => {
    const own = {
      "X-Request-Id": "r-1",
      traceparent: "00-1",
      "User-Agent": "curl/8",
      "X-Custom": "1",
      Viable: "1",
    };
    expect(await ask(own)).toEqual([201, undefined]);
  });
});

describe("the settings paths with a credential", () => {
  test("answer whatever Host, Origin and proxy are", async () => {
    const key = { "X-API-Key": running.secretKey };
    const headers: Record<string, string>[] = [
      { Host: "evil.example" },
      { Origin: "https://evil.example" },
      { "Sec-Fetch-Site": "cross-site" },
      { "X-Forwarded-For": "203.0.113.7" },
    ];
    for (const header of headers) expect(await ask({ ...key, ...header })).toEqual([201, undefined]);
  });
});

describe("OPEN_SETTINGS", () => {
  async function withSetting(env: Record<string, string>, check: (url: string) => Promise<void>) {
    const app = await startApp(running.database, env);
    await check(app.url).finally(() => app.stop());
  }

  test("set to false closes the settings paths without a credential", () =>
    withSetting({ OPEN_SETTINGS: "false" }, async (url) => {
      expect(await ask({}, url)).toEqual([401, "UNAUTHENTICATED"]);
      expect(await ask({ "X-API-Key": running.secretKey }, url)).toEqual([201, undefined]);
    }));

  test("set to true opens them behind a proxy too, but not to other sites and host names", () =>
    withSetting({ OPEN_SETTINGS: "true", PUBLIC_BASE_URL: "https://parley.example" }, async (url) => {
      expect(await ask({ "X-Forwarded-For": "203.0.113.7", Host: "parley.example" }, url)).toEqual([
        201,
        undefined,
      ]);
      expect(await ask({ Host: "evil.example" }, url)).toEqual([403, "FORBIDDEN"]);
      expect(await ask({ Host: "parley.example", Origin: "https://evil.example" }, url)).toEqual([
        403,
        "FORBIDDEN",
      ]);
      expect(await ask({ Host: "parley.example", Origin: "https://parley.example" }, url)).toEqual([
        201,
        undefined,
      ]);
    }));

  test("is false by default with an external database", () =>
    withSetting({ DATABASE_URL: "postgres://elsewhere/parley" }, async (url) => {
      expect(await ask({}, url)).toEqual([401, "UNAUTHENTICATED"]);
    }));
});
