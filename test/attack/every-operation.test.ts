import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { callerOf, type Target, targets, textOf } from "../support/targets";
import { closeRaw, rawRequest, type RawAnswer } from "../support/raw";
import { SERVER_TIMEOUT_MS } from "../support/server";
import { LONG, rows } from "../support/suite";
import { buildWorld, unknownWorld, type World } from "../support/world";

const running = useApp({ OPEN_SETTINGS: "false", MAX_FILE_BYTES: "1000000" });
let world: World;
let strangers: World;
/** A credential of every class, and invalid ones. */
const credentials: Record<string, Readonly<Record<string, string>>> = {
  none: {},
  "unknown key": { "X-API-Key": "parley_sk_x" },
  "unreadable token": { Authorization: "Bearer a.b.c" },
  "another scheme": { Authorization: "Basic eA==" },
};
const CLASSES = [
  "PUBLIC key",
  "key that may do nothing here",
  "token",
  "token of a user",
  "visitor's session",
  "key that only reads",
  "key of one assistant",
];

beforeAll(async () => {
  const { api } = running;
  world = await buildWorld(api);
  strangers = await buildWorld((await running.otherOrganization()).api);
  const bearer = async (body: object) => ({
    Authorization: `Bearer ${(await api.post("/rest/v1/organization/token", body, 200)).token}`,
  });
  const limited = async (limits: object) => ({
    "X-API-Key": (await api.post("/rest/v1/organization/keys", limits, 200)).value as string,
  });
  const made = [
    { "X-API-Key": running.publicKey },
    await limited({ permissions: ["webhooks"] }),
    await bearer({}),
    await bearer({ userId: "ada" }),
    { Authorization: `Bearer ${world.visitorToken}` },
    await limited({ permissions: ["read"] }),
    await limited({ assistantIds: [world.assistantId] }),
  ];
  CLASSES.forEach((name, index) => (credentials[name] = made[index]!));
}, 2 * SERVER_TIMEOUT_MS);
afterAll(closeRaw);

const headersOf = (target: Target) => callerOf(target, running.api, world).headers;

/** Sends any body to the target. Expects that the service stays live in the meantime. */
async function attack(target: Target, body: string, type: string): Promise<RawAnswer> {
  const headers = { ...headersOf(target), "Content-Type": type };
  const path = target.path(world);
  const [answer, live] = await Promise.all([
    rawRequest(running.url, { method: target.method, path, headers, body }),
    running.api.request("GET", "/health/live"),
  ]);
  expect(live.status).toBe(200);
  return answer;
}

/** Decided: no failure of ours, and JSON that says what is wrong where something is. */
function expectDecided({ status, text, headers }: RawAnswer): void {
  expect({ status: status < 500 ? "below 500" : status, text }).toEqual({ status: "below 500", text });
  if (status < 400) return;
  expect(headers["content-type"]).toMatch(/json/);
  const { code, errors } = JSON.parse(text) as { code?: string; errors?: { extensions: { code: string } }[] };
  const codes = errors?.map(({ extensions }) => extensions.code) ?? [code];
  for (const one of codes) {
    expect(one).toMatch(/^[A-Z_]+$/);
    expect(one).not.toMatch(/^INTERNAL/);
  }
}

/** The body of a target, with this in the place of all that it may be sent. */
const bodyWith = ({ api, name }: Target, value: string): string =>
  api === "REST" ? value : `{"query":${JSON.stringify(textOf(name))},"variables":${value}}`;

const JSON_TYPE = "application/json";
const HUGE = JSON.stringify({ name: "x".repeat(9_000_000) });
const DEEP = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
const FORM = `--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n${"x".repeat(2_000_000)}`;
const readsJson = ({ api, method, caller }: Target) =>
  caller !== "provider" && (api === "GraphQL" || method === "PATCH");

const each = rows(targets, 12);
describe(`${each.title} routes and operations`, () => {
  test.each(each.rows)("$title refuses a body of several megabytes", async (target) => {
    const answer = await attack(target, bodyWith(target, HUGE), JSON_TYPE);
    expectDecided(answer);
    if (readsJson(target)) expect(answer.status).toBe(413);
    expectDecided(await attack(target, FORM, "multipart/form-data; boundary=x"));
  });

  test.each(each.rows)("$title refuses JSON nested 20,000 levels deep", async (target) => {
    const answer = await attack(target, bodyWith(target, DEEP), JSON_TYPE);
    expectDecided(answer);
    if (readsJson(target) && target.api === "REST") expect(answer.status).toBe(400);
  });

  test.each(each.rows)("$title refuses a body of another content type", async (target) => {
    for (const type of [
      "text/plain",
      "application/xml",
      "application/json; charset=utf-16",
      ";",
      "multipart/form-data",
    ]) {
      const answer = await attack(target, bodyWith(target, "{}"), type);
      expectDecided(answer);
      if (readsJson(target)) expect(answer.status).toBeGreaterThanOrEqual(400);
    }
  });

  test.each(each.rows)("$title accepts or refuses every kind of credential as documented", async (target) => {
    for (const name of Object.keys(credentials)) {
      const { code, status = 200 } = await target.ask(running.api.as(credentials[name]!), unaware());
      expect([name, code]).not.toEqual([name, expect.stringMatching(/^INTERNAL|^UNAVAILABLE|^5/)]);
      expect([name, status]).toEqual([name, expect.any(Number)]);
      expect(status).toBeLessThan(500);
    }
  });

  test.each(each.rows.filter(({ records, caller }) => records.length > 0 && caller !== "provider"))(
    "$title does not find records of another organization",
    async (target) => {
      const { code } = await target.ask(callerOf(target, running.api, world), strangers);
      expect(code).toMatch(/_NOT_FOUND$/);
    },
  );

  test.each(each.rows.filter(({ records }) => records.length > 0))(
    "$title answers every credential for records of another organization exactly as for unknown ones",
    async (target) => {
      const unknown = unknownWorld();
      for (const [name, credential] of Object.entries(credentials)) {
        const api = running.api.as(credential);
        const answers = [await target.ask(api, strangers), await target.ask(api, unknown)];
        expect([name, answers[0]]).toEqual([name, answers[1]]);
      }
    },
  );

  test("the service is still healthy afterwards", async () => {
    await running.api.get("/health/ready", 200);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

/** Uses records of another organization, so that accepted requests change nothing in ours. */
const unaware = (): World => strangers;

/** Sends the beginning of a request, without its rest. */
async function begin(target: Target) {
  const { hostname, port, host } = new URL(running.url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  const body = bodyWith(target, "{}");
  const lines = Object.entries({
    Host: host,
    ...headersOf(target),
    "Content-Type": JSON_TYPE,
    Connection: "close",
  });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const answered = new Promise<string>((resolve) => {
    let text = "";
    socket.setEncoding("utf8").on("data", (more: string) => (text += more));
    socket.on("error", () => undefined).on("close", () => resolve(text));
  });
  socket.write(
    `${target.method} ${target.path(world)} HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 1)}`,
  );
  return { answered, finish: () => socket.write(body.slice(1)), give: () => socket.destroy() };
}

const slow = rows(targets, 40);
describe(`slow bodies, sent to ${slow.title} routes and operations at once,`, () => {
  test(
    "do not block other requests and are answered once they are complete",
    async () => {
      const begun = await Promise.all(slow.rows.map(begin));
      expect((await running.api.request("GET", "/health/live")).status).toBe(200);
      await running.api.get("/rest/v1/assistants", 200);
      begun.forEach(({ finish }) => finish());
      for (const { answered } of begun) {
        const status = Number(/^HTTP\/1.1 (\d+)/.exec(await answered)?.[1]);
        expect(status).toBeGreaterThanOrEqual(200);
        expect(status).toBeLessThan(500);
      }
    },
    2 * SERVER_TIMEOUT_MS,
  );

  test(
    "time out",
    async () => {
      const { server } = running.app;
      expect(server.requestTimeout).toBeGreaterThan(0);
      expect(server.requestTimeout).toBeLessThanOrEqual(300_000);
      if (!LONG) return; // Node checks timeouts every 30 s
      server.requestTimeout = 1_000;
      server.headersTimeout = 1_000;
      const begun = await Promise.all(slow.rows.map(begin));
      for (const { answered } of begun) expect(await answered).toMatch(/^HTTP\/1.1 [2-4]\d\d /);
    },
    3 * SERVER_TIMEOUT_MS,
  );
});
