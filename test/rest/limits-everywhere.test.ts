import { afterAll, describe, expect, test } from "@jest/globals";
import { newAssistant, quietAssistant } from "../support/factories";
import { COMPLETIONS, MESSAGES, useEngine } from "../support/engine";
import { closeRaw, rawRequest, type RawAnswer } from "../support/raw";
import { connect, INTERCEPT, newPerson } from "../support/sms";
import { sign, smsOf } from "../support/twilio";

const MOST = 4;
const running = useEngine({
  TRUST_PROXY: "127.0.0.1",
  RATE_LIMIT_ORGANIZATION: "50",
  RATE_LIMIT_CREDENTIAL: String(MOST),
  RATE_LIMIT_ANONYMOUS: String(MOST),
  RATE_LIMIT_DOWNLOAD: String(MOST),
  RATE_LIMIT_CALLBACK: String(MOST),
  CALL_SILENCE_SECONDS: "3600",
});
afterAll(closeRaw);

let clients = 0;
const newAddress = () => `203.0.113.${++clients}`;
let networks = 0;
/** Unused addresses of one /64. */
const newNetwork = () => {
  const network = `2a00:1450:${(++networks).toString(16)}:7`;
  let hosts = 0;
  return () => `${network}::${(++hosts).toString(16)}`;
};
const atOnce = (count: number, one: () => Promise<RawAnswer>) =>
  Promise.all(Array.from({ length: count }, one));
const statuses = (answers: readonly RawAnswer[]) => [...new Set(answers.map(({ status }) => status))].sort();
const json = (path: string, address: string, body: object, headers: Record<string, string> = {}) =>
  rawRequest(running.url, {
    method: "POST",
    path,
    headers: { "X-Forwarded-For": address, "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
const get = (path: string, address: string, headers: Record<string, string> = {}) =>
  rawRequest(running.url, { path, headers: { "X-Forwarded-For": address, ...headers } });
async function counted(metric: string): Promise<number> {
  const { text } = await rawRequest(running.url, { path: "/metrics" });
  return text
    .split("\n")
    .filter((line) => line.startsWith(metric.split("{")[0]!) && line.includes(metric.split("{")[1] ?? ""))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}
const LIMITED = 'parley_engine_callbacks_total{outcome="limited"';

describe("the headers of a response", () => {
  test.each(["/rest/v1/organization", "/graphql?query={__typename}"])(
    "of %s list every limit that counts the request, first the one with the fewest requests left",
    async (path) => {
      const { secretKey } = await running.otherOrganization();
      const { status, headers } = await get(path, newAddress(), { "X-API-Key": secretKey });
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        "ratelimit-policy": `"credential";q=${MOST};w=1, "organization";q=50;w=1`,
        ratelimit: expect.stringMatching(/^"credential";r=3;t=[01], "organization";r=49;t=[01]$/),
      });
    },
  );
});

describe("limits per IP address", () => {
  const sms = (address: string) => {
    const body = new URLSearchParams(smsOf({ phoneNumber: "+41445550000" } as never, newPerson(), "Hi"));
    return rawRequest(running.url, {
      method: "POST",
      path: INTERCEPT,
      headers: { "X-Forwarded-For": address, "Content-Type": "application/x-www-form-urlencoded" },
      body: body.toString(),
    });
  };
  const cases: [string, (address: string) => Promise<RawAnswer>][] = [
    ["download links", (address) => get("/files/a/b?expires=1&signature=x", address)],
    ["pages", (address) => get("/rest/docs", address)],
    ["the OpenAPI document", (address) => get("/rest/openapi.json", address)],
    ["unknown paths", (address) => get("/nothing", address)],
    ["texts without a signature", sms],
    ["wrong keys", (address) => get("/rest/v1/organization", address, { "X-API-Key": "wrong" })],
    ["GraphQL without a credential", (address) => get("/graphql?query={__typename}", address)],
  ];

  test.each(cases)("%s, with an IPv6 /64 as one address", async (_what, ask) => {
    const one = newAddress();
    const network = newNetwork();
    for (const addressOf of [() => one, network]) {
      const answers = await atOnce(MOST * 4, () => ask(addressOf()));
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused.length).toBeGreaterThan(0);
      expect(refused.length).toBeLessThan(MOST * 4);
      expect(refused[0]!.headers["retry-after"]).toBe("1");
    }
    expect((await ask(newNetwork()())).status).not.toBe(429);
  });

  test("count IPv4 addresses behind a translator one by one", async () => {
    const translated = () => `64:ff9b::cb00:71${(++clients).toString(16).padStart(2, "0")}`;
    const busy = translated();
    expect(statuses(await atOnce(MOST * 4, () => get("/rest/docs", busy)))).toContain(429);
    expect((await get("/rest/docs", translated())).status).not.toBe(429);
  });

  test("do not apply to health checks and metrics", async () => {
    for (const path of ["/health/live", "/health/ready", "/metrics"]) {
      const address = newAddress();
      expect(statuses(await atOnce(MOST * 4, () => get(path, address)))).toEqual([200]);
    }
  });
});

test("a key beyond its limit is rejected, and another key of the organization is not", async () => {
  const { value } = await running.api.post("/rest/v1/organization/keys", {}, 200);
  const ask = (key: string) => get("/rest/v1/organization", newAddress(), { "X-API-Key": key });
  const answers = await atOnce(MOST * 4, () => ask(value));
  expect(statuses(answers)).toEqual([200, 429]);
  const refused = answers.find(({ status }) => status === 429)!;
  expect(refused.headers["ratelimit-policy"]).toBe(`"credential";q=${MOST};w=1`);
  expect((await ask(running.secretKey)).status).toBe(200);
});

test("signed texts count for their organization, whatever unsigned ones come from the same address", async () => {
  const number = await connect(running, [await quietAssistant(running.api)]);
  const address = newAddress();
  await atOnce(MOST * 4, () => json("/rest/v1/organization", address, {}, { "X-API-Key": "wrong" }));
  const params = smsOf(number, newPerson(), "STOP");
  const answer = await rawRequest(running.url, {
    method: "POST",
    path: INTERCEPT,
    headers: {
      "X-Forwarded-For": address,
      "Content-Type": "application/x-www-form-urlencoded",
      "X-Twilio-Signature": sign(number.authToken, `https://parley.example${INTERCEPT}`, params),
    },
    body: new URLSearchParams(params).toString(),
  });
  expect(answer.status).toBe(200);
});

describe("callbacks of an engine", () => {
  const flood = (address: string, path: string) =>
    atOnce(MOST * 5, () => json(path, address, { message: { type: "status-update", status: "ended" } }));

  test.each([MESSAGES, COMPLETIONS])(
    "%s return 201 beyond the limit, without effect, and are counted",
    async (path) => {
      const before = await counted(LIMITED);
      expect(statuses(await flood(newAddress(), path))).toEqual([201]);
      expect(await counted(LIMITED)).toBeGreaterThan(before);
    },
  );

  test("with the secret of a live call are processed, whatever else comes from that address", async () => {
    const call = await running.call(await newAssistant(running.api), {}, "+41445550132");
    const address = newAddress();
    await flood(address, MESSAGES);
    const before = await counted(LIMITED);
    const tell = (message: object) =>
      json(
        MESSAGES,
        address,
        { message: { call: { id: call.engineCallId, name: call.id }, ...message } },
        call.headers,
      );
    for (const role of ["user", "assistant", "user", "assistant", "user", "assistant", "user"])
      await tell({ type: "transcript", transcriptType: "final", role, transcript: "words" });
    await tell({ type: "status-update", status: "ended", endedReason: "customer-ended-call" });
    expect(await counted(LIMITED)).toBe(before);
    const { call: shown } = (await running.api.gql(`query ($id: ID!) { call(id: $id) { status } }`, {
      id: call.id,
    })) as { call: { status: string } };
    expect(shown.status).toBe("ended");
  });
});
