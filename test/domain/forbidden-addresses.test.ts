import { createServer, type Server } from "node:http";
import { networkInterfaces } from "node:os";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { BOUNDS } from "../../src/platform/outbound/bounds";
import { outbound } from "../../src/platform/outbound/http";
import { useApp } from "../support/app";
import { newAssistant, newChat, quietAssistant } from "../support/factories";
import { until } from "../support/until";

/** 127.0.0.2 is allowed, for redirects from there; no other private address is. */
const running = useApp({ WORKER: "on", OUTBOUND_ALLOW: "127.0.0.2" });

let canary: Server;
let hits = 0;
let port = 0;
let redirects: Server;
beforeAll(async () => {
  canary = createServer((_, res) => {
    hits++;
    res.end("{}");
  });
  const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
    all?.some(({ address }) => address === "::1"),
  );
  await new Promise<void>((resolve) => canary.listen(0, hasIpv6 ? "::" : "0.0.0.0", resolve));
  ({ port } = canary.address() as AddressInfo);
  redirects = createServer((_, res) => res.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end());
  await new Promise<void>((resolve) => redirects.listen(0, "127.0.0.2", resolve));
});
afterAll(() => {
  canary.close();
  canary.closeAllConnections();
  redirects.close();
  redirects.closeAllConnections();
});
beforeEach(() => void (hits = 0));

/** Spellings of loopback addresses, and addresses that contain one. */
const LITERALS = [
  "127.0.0.1",
  "127.1",
  "0x7f.1",
  "0X7F.0.0.1",
  "2130706433",
  "017700000001",
  "0177.0.0.1",
  "127.0.0.1.",
  "%31%32%37.0.0.1",
  "①②⑦.0.0.1",
  "0.0.0.0",
  "0",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::FFFF:7F00:1]",
  "[::127.0.0.1]",
  "[::ffff:0:127.0.0.1]",
  "[64:ff9b::127.0.0.1]",
  "[64:ff9b:1::7f00:1]",
  "[2002:7f00:1::]",
  "[2001:0:7f00:1::]",
];
/** Other addresses that are unassigned, private, or not of a single host. */
const RESERVED = [
  "10.0.0.1",
  "100.64.0.1",
  "169.254.169.254",
  "172.16.0.1",
  "192.0.2.1",
  "192.168.0.1",
  "198.18.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "[fc00::1]",
  "[fe80::1]",
  "[fec0::1]",
  "[ff02::1]",
  "[2001:db8::1]",
  "[400::1]",
  "[4000::1]",
];
/** Addresses that cannot be recognized when they are saved: names are not resolved then. */
const NAMES = ["localhost", "LocalHost", "localhost.", "LOCALHOST."];

const PRIVATE =
  "must not be a private, local or reserved address, unless the operator lists it in OUTBOUND_ALLOW";
const to = (host: string) => `http://${host}:${port}/`;
const redirecting = () => `http://127.0.0.2:${(redirects.address() as AddressInfo).port}/`;

const SET = "mutation ($input: ModelCredentialInput!) { setModelCredential(input: $input) { baseUrl } }";

test("the canary can be reached if that is allowed", async () => {
  const open = outbound(["127.0.0.0/8", "localhost"]);
  const request = { body: "{}", headers: {}, timeoutMs: 5_000, readBytes: 100 };
  for (const host of ["127.0.0.1", "0x7f.1", "2130706433", "017700000001", "localhost", "LOCALHOST"])
    expect(await open.post({ ...request, url: to(host) })).toMatchObject({ kind: "answered", status: 200 });
  await open.close();
  expect(hits).toBe(6);
});

describe("a forbidden address is refused when it is saved", () => {
  test.each([...LITERALS, ...RESERVED])("for a webhook and a model: %s", async (host) => {
    const { api } = running;
    const url = `https://${host}/hook`;
    const refused = await api.post("/rest/v1/settings", { url, secret: "s" }, 400);
    expect(JSON.stringify(refused)).toContain(PRIVATE);
    const { id } = await api.post("/rest/v1/settings", { url: "https://example.com/", secret: "s" }, 201);
    expect(JSON.stringify(await api.patch(`/rest/v1/settings/${id}`, { url }, 400))).toContain(PRIVATE);
    await api.delete(`/rest/v1/settings/${id}`, 200);
    const { message, extensions } = await api.gqlError(SET, { input: { provider: "OPENAI", baseUrl: url } });
    expect({ message, code: extensions.code }).toEqual({
      message: `input.baseUrl: ${PRIVATE}`,
      code: "BAD_USER_INPUT",
    });
  });

  test.each([
    ["http://user@example.com/", "must not contain a user name or password"],
    ["http://:secret@example.com/", "must not contain a user name or password"],
    ["ftp://example.com/", "must be a URL that begins with http:// or https://"],
    ["file:///etc/passwd", "must be a URL that begins with http:// or https://"],
    ["gopher://127.0.0.1/", "must be a URL that begins with http:// or https://"],
    ["example.com", "must be a URL that begins with http:// or https://"],
  ])("and so is %s, with the rule that it breaks", async (url, rule) => {
    const refused = await running.api.post("/rest/v1/settings", { url, secret: "s" }, 400);
    expect(JSON.stringify(refused)).toContain(rule);
    const error = await running.api.gqlError(SET, { input: { provider: "OPENAI", baseUrl: url } });
    expect(error.message).toBe(`input.baseUrl: ${rule}`);
  });
});

/** All of them, and redirects to them. */
const everyWay = () => [
  ...[...LITERALS, ...NAMES].map(to),
  `http://user:password@127.0.0.1:${port}/`,
  `http://user@localhost:${port}/`,
  redirecting(),
];

const failure = (code: string) => Object.assign(new Error(`getaddrinfo ${code}`), { code });

describe("a forbidden address is never reached", () => {
  test("by a webhook, wherever its URL comes from", async () => {
    const { api, database } = running;
    const urls = new Map<string, string>();
    for (const url of everyWay()) {
      const made = await api.post("/rest/v1/settings", { url: "https://example.com/", secret: "s" }, 201);
      urls.set(made.id, url);
      // Pretends that it was saved while more was allowed.
      await database.query("update webhook_destinations set url = $2 where id = $1", [made.id, url]);
    }
    await newChat(api, await quietAssistant(api));
    const tried = `select distinct on (destination_id) destination_id, attempts->0 as attempt from deliveries
      where attempts <> '[]' order by destination_id, event_id`;
    type Tried = { destination_id: string; attempt: { status: number | null; error: string | null } };
    const rows = await until(async () => {
      const rows = await database.query<Tried>(tried);
      return rows.length >= urls.size && rows;
    });
    expect(rows).toHaveLength(urls.size);
    const redirected = redirecting();
    for (const { destination_id, attempt } of rows) {
      const url = urls.get(destination_id)!;
      if (url === redirected) expect(attempt).toMatchObject({ status: 307, error: null });
      else {
        const rule = url.includes("@")
          ? "must not contain a user name or password"
          : NAMES.some((name) => url === to(name))
            ? // Some resolvers do not know the names with a dot at their end.
              expect.stringMatching(/^The (address is private|host name cannot be resolved)/)
            : PRIVATE;
        expect({ url, ...attempt }).toMatchObject({ url, status: null, error: rule });
      }
    }
    expect(hits).toBe(0);
    for (const id of urls.keys()) await api.delete(`/rest/v1/settings/${id}`, 200);
  });

  test("by a function", async () => {
    const { api } = running;
    const urls = everyWay();
    const functions = urls.map((serverUrl, index) => ({ name: `f${index}`, serverUrl, secretKey: "ck" }));
    const assistantId = await newAssistant(api);
    await api.patch(`/rest/v1/assistants/${assistantId}/chat`, { functions }, 200);
    const call = `mutation ($assistantId: ID!, $name: String!) {
      testFunction(assistantId: $assistantId, channel: TEXT, name: $name, arguments: {}) { failed response } }`;
    for (const { name, serverUrl } of functions) {
      const { testFunction } = await api.gql(call, { assistantId, name });
      const answer =
        serverUrl === redirecting() ? "answered with status 307" : "The function could not be called: ";
      expect({ serverUrl, ...testFunction }).toMatchObject({ serverUrl, failed: true });
      expect(testFunction.response).toContain(answer);
    }
    expect(hits).toBe(0);
  });

  test("by a tool server, even one that was stored before its address was refused", async () => {
    const { api } = running;
    const assistantId = await newAssistant(api);
    const trial = `mutation ($assistantId: ID!, $name: String!) {
      testToolServer(assistantId: $assistantId, name: $name) { connected problem } }`;
    const servers = everyWay().map((url, index) => ({
      name: `s${index}`,
      url,
      headerNames: [],
      allowedTools: null,
    }));
    await running.database.query("update assistants set tool_servers = $1 where id = $2", [
      JSON.stringify(servers),
      assistantId,
    ]);
    for (const { name, url } of servers) {
      const { testToolServer } = await api.gql(trial, { assistantId, name });
      const problem =
        url === redirecting()
          ? /redirects are not followed/
          : /^The (address is private|host name cannot be resolved)|user name or password/;
      expect({ url, ...testToolServer }).toEqual({
        url,
        connected: false,
        problem: expect.stringMatching(problem),
      });
    }
    expect(hits).toBe(0);
  });

  test("by a model, wherever its address comes from; the person gets an apology", async () => {
    const chats: unknown[] = [];
    const ways = everyWay();
    const answerTo = async (url: string) => {
      const { api } = await running.otherOrganization();
      await api.gql(SET, { input: { provider: "OPENAI", apiKey: "sk-1", baseUrl: "https://example.com" } });
      const { id } = await api.get("/rest/v1/organization", 200);
      await running.database.query("update model_credentials set base_url = $2 where organization_id = $1", [
        id,
        `${url}v1`,
      ]);
      const aiChatId = await newChat(api, await quietAssistant(api));
      const input = { aiChatId, role: "USER", channel: "TEXT", content: "Hello?", metadata: {} };
      const post = `mutation ($input: PostMessageInput!) { postMessage(input: $input, wait: true) { metadata } }`;
      return (await api.gql(post, { input })).postMessage.metadata as unknown;
    };
    // Some at once: a busy machine would not answer all of them in time.
    while (ways.length > 0) chats.push(...(await Promise.all(ways.splice(0, 6).map(answerTo))));
    for (const metadata of chats) expect(metadata).toMatchObject({ error: true });
    expect(hits).toBe(0);
  });

  test.each([
    ["loopback", ["127.0.0.1"]],
    ["loopback by IPv6", ["::1"]],
    ["loopback inside an IPv6 address", ["::ffff:127.0.0.1"]],
    ["a public address and loopback", ["93.184.215.14", "127.0.0.1"]],
    ["loopback and a public address", ["127.0.0.1", "2606:4700::1111"]],
  ])("by a name that resolves to %s", async (_, addresses) => {
    const asked: string[] = [];
    const closed = outbound([], (name) => {
      asked.push(name);
      return Promise.resolve(addresses);
    });
    const request = { body: "{}", headers: {}, timeoutMs: 5_000, readBytes: 100 };
    const url = to("rebound.example");
    expect(closed.problemWith(url)).toBeUndefined();
    expect(await closed.post({ ...request, url })).toEqual({
      kind: "failed",
      error: "The address is private and not in OUTBOUND_ALLOW.",
      timedOut: false,
    });
    await expect(closed.fetch(url)).rejects.toThrow();
    await closed.close();
    expect(asked).toEqual(["rebound.example", "rebound.example"]);
    expect(hits).toBe(0);
  });

  test.each([
    ["fails with ENOTFOUND", () => Promise.reject(failure("ENOTFOUND")), " (ENOTFOUND)"],
    ["fails with EAI_AGAIN", () => Promise.reject(failure("EAI_AGAIN")), " (EAI_AGAIN)"],
    ["fails without a code", () => Promise.reject(new Error("broken")), ""],
    ["finds no address", () => Promise.resolve([]), " (ENODATA)"],
  ])("by a name whose resolution %s, and every way of sending says so", async (_, resolve, code) => {
    const error = `The host name cannot be resolved${code}.`;
    const closed = outbound([], resolve);
    const request = { body: "{}", headers: {}, timeoutMs: 5_000, readBytes: 100 };
    const url = to("nosuchhost.example");
    expect(await closed.post({ ...request, url })).toEqual({ kind: "failed", error, timedOut: false });
    await expect(closed.fetch(url)).rejects.toThrow(error);
    await expect(closed.download(url, "test", BOUNDS.recording)).rejects.toThrow(error);
    await closed.close();
  });

  test("by a name that resolves to loopback from the second time on: the checked address is used", async () => {
    const answers = ["127.0.0.2", "127.0.0.1"];
    const rebinding = outbound(["127.0.0.2"], () => Promise.resolve([answers.shift() ?? "127.0.0.1"]));
    const { port: other } = redirects.address() as AddressInfo;
    const request = { body: "{}", headers: {}, timeoutMs: 5_000, readBytes: 100 };
    const post = (port: number) => rebinding.post({ ...request, url: `http://rebound.example:${port}/` });
    expect(await post(other)).toMatchObject({ kind: "answered", status: 307 });
    expect(await post(port)).toMatchObject({
      kind: "failed",
      error: "The address is private and not in OUTBOUND_ALLOW.",
    });
    await rebinding.close();
    expect(hits).toBe(0);
  });
});
