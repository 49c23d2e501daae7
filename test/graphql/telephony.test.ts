import { beforeEach, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant, UNKNOWN_ID } from "../support/factories";
import { bring, newPerson } from "../support/sms";
import { newAccount, smsOf } from "../support/twilio";

const running = useApp({ WORKER: "on", PUBLIC_BASE_URL: "https://parley.example" });
const FIELDS = `{ id phoneNumber accountSid messagingServiceSid authTokenHint interceptSmsUrl createdAt updatedAt
  assistants { id name } }`;
const CONNECT = `mutation ($input: ConnectTelephonyInput!) { connectTelephony(input: $input) ${FIELDS} }`;
const UPDATE = `mutation ($id: ID!, $input: UpdateTelephonyConnectionInput!) {
  updateTelephonyConnection(id: $id, input: $input) ${FIELDS} }`;
const LIST = `{ telephonyConnections ${FIELDS} }`;
const DISCONNECT = "mutation ($id: ID!) { disconnectTelephony(id: $id) { id } }";
const SERVICE = `MG${"0123456789abcdef".repeat(2)}`;

const connect = async (input: object = {}) => {
  const account = newAccount();
  const { connectTelephony } = await running.api.gql(CONNECT, { input: { ...account, ...input } });
  return { account, connection: connectTelephony };
};
const list = async () => (await running.api.gql(LIST)).telephonyConnections;

beforeEach(() => {
  Object.assign(running.twilio, { accountStatus: "active", hasNumber: true, hasSender: true });
});

describe("connecting a phone number", () => {
  test("stores it and returns the webhook URL for SMS and the answering assistants", async () => {
    const first = await newAssistant(running.api, { name: "Ada" });
    const second = await newAssistant(running.api, { name: "Bea" });
    const input = { messagingServiceSid: SERVICE, assistantIds: [second, first] };
    const { account, connection } = await connect(input);
    expect(connection).toEqual({
      id: expect.any(String),
      phoneNumber: account.phoneNumber,
      accountSid: account.accountSid,
      messagingServiceSid: SERVICE,
      authTokenHint: `…${account.authToken.slice(-4)}`,
      interceptSmsUrl: "https://parley.example/webhooks/twilio/intercept-sms",
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      assistants: [
        { id: second, name: "Bea" },
        { id: first, name: "Ada" },
      ],
    });
    expect((await list()).at(-1)).toEqual(connection);
    expect(running.twilio.problems).toEqual([]);
  });

  test("stores the token encrypted and never returns it", async () => {
    const { account } = await connect();
    const stored = await running.database.query("select * from telephony_connections");
    expect(JSON.stringify(stored)).not.toContain(account.authToken);
    const { events } = await running.api.gql("{ events(first: 100) { nodes { payload } } }");
    expect(JSON.stringify([await list(), events])).not.toContain(account.authToken);
    const { text: metrics } = await running.api.request("GET", "/metrics");
    expect(metrics).not.toContain(account.authToken);
  });

  test.each<[string, object, object, RegExp]>([
    ["authToken", { authToken: "wrong-token-of-somebody" }, {}, /token of this account/],
    ["phoneNumber", {}, { hasNumber: false }, /not a number of this account/],
    ["messagingServiceSid", { messagingServiceSid: SERVICE }, { hasSender: false }, /without this number/],
    ["accountSid", {}, { accountStatus: "suspended" }, /suspended/],
    ["accountSid", { accountSid: "AC123" }, {}, /32 hexadecimal/],
    ["accountSid", { accountSid: "../Accounts" }, {}, /32 hexadecimal/],
    ["messagingServiceSid", { messagingServiceSid: "MG1" }, {}, /32 hexadecimal/],
    ["phoneNumber", { phoneNumber: "044 123 45 67" }, {}, /E\.164/],
    ["authToken", { authToken: "with a space in it" }, {}, /without spaces/],
  ])("refuses an invalid %s and names it: %j %j", async (path, input, provider, message) => {
    Object.assign(running.twilio, provider);
    const before = await list();
    const account = { ...newAccount(), ...input };
    const error = await running.api.gqlError(CONNECT, { input: account });
    expect(error.extensions).toMatchObject({
      code: "BAD_USER_INPUT",
      details: [{ path: `input.${path}`, message: expect.stringMatching(message) }],
    });
    expect(JSON.stringify(error)).not.toContain(account.authToken);
    expect(await list()).toEqual(before);
  });

  test("is refused for a number that is already connected, here or in another organization", async () => {
    const { account } = await connect();
    const other = await running.otherOrganization();
    for (const api of [running.api, other.api]) {
      const error = await api.gqlError(CONNECT, {
        input: { ...newAccount(), phoneNumber: account.phoneNumber },
      });
      expect(error.extensions.code).toBe("CONFLICT");
    }
    expect((await other.api.gql(LIST)).telephonyConnections).toEqual([]);
  });

  test("succeeds for only one of two concurrent requests", async () => {
    const account = newAccount();
    const other = await running.otherOrganization();
    const answers = await Promise.all(
      [running.api, other.api, running.api, other.api].map((api) => api.graphql(CONNECT, { input: account })),
    );
    const done = answers.filter(({ body }) => !body.errors);
    expect(done).toHaveLength(1);
    for (const { body } of answers.filter((answer) => answer !== done[0]))
      expect(body.errors[0].extensions.code).toBe("CONFLICT");
  });

  test("requires the organization's own assistants, not templates", async () => {
    const theirs = await newAssistant((await running.otherOrganization()).api);
    for (const id of [UNKNOWN_ID, theirs]) {
      const error = await running.api.gqlError(CONNECT, { input: { ...newAccount(), assistantIds: [id] } });
      expect(error.extensions).toMatchObject({
        code: "ASSISTANT_NOT_FOUND",
        details: [{ path: "input.assistantIds.0" }],
      });
    }
    const { data } = await running.api.get("/rest/v1/assistants/templates", 200);
    const input = { ...newAccount(), assistantIds: [data[0].id] };
    expect((await running.api.gqlError(CONNECT, { input })).extensions).toMatchObject({
      code: "TEMPLATE_READ_ONLY",
      details: [{ path: "input.assistantIds.0" }],
    });
  });
});

test("an unreachable provider gives 503, and nothing is stored", async () => {
  await running.twilio.stop();
  const before = await list();
  const error = await running.api.gqlError(CONNECT, { input: newAccount() });
  expect(error.extensions.code).toBe("UNAVAILABLE");
  expect(await list()).toEqual(before);
  await running.twilio.start();
});

describe("a connected number", () => {
  test("changes its assistants without asking the provider, and its account only after asking", async () => {
    const ada = await newAssistant(running.api, { name: "Ada" });
    const { account, connection } = await connect();
    const change = async (input: object) =>
      (await running.api.gql(UPDATE, { id: connection.id, input })).updateTelephonyConnection;
    expect((await change({ assistantIds: [ada] })).assistants).toEqual([{ id: ada, name: "Ada" }]);
    const newer = "0123456789abcdef0123456789abcdef";
    expect(await change({ authToken: newer, messagingServiceSid: SERVICE })).toMatchObject({
      authTokenHint: "…cdef",
      messagingServiceSid: SERVICE,
      assistants: [{ id: ada }],
    });
    expect(await change({ messagingServiceSid: null })).toMatchObject({ messagingServiceSid: null });
    const wrong = { id: connection.id, input: { authToken: "wrong-token-of-somebody" } };
    expect((await running.api.gqlError(UPDATE, wrong)).extensions.details[0].path).toBe("input.authToken");
    // Later requests are signed with the new token.
    const at = "https://parley.example";
    const changed = { ...account, authToken: newer };
    const sms = smsOf(account, newPerson(), "HELP");
    expect((await bring(running, changed, sms, { at })).status).toBe(200);
    expect((await bring(running, account, sms, { at })).status).toBe(403);
  });

  test("does not list a deleted assistant", async () => {
    const id = await newAssistant(running.api);
    const { connection } = await connect({ assistantIds: [id] });
    await running.api.delete(`/rest/v1/assistants/${id}`, 200);
    expect((await list()).find((one: { id: string }) => one.id === connection.id).assistants).toEqual([]);
  });

  test("is deleted when it is disconnected, and can be connected again", async () => {
    const { account, connection } = await connect();
    await running.api.gql(DISCONNECT, { id: connection.id });
    expect((await list()).map(({ id }: { id: string }) => id)).not.toContain(connection.id);
    expect((await running.api.gqlError(DISCONNECT, { id: connection.id })).extensions.code).toBe(
      "TELEPHONY_CONNECTION_NOT_FOUND",
    );
    await running.api.gql(CONNECT, { input: account });
  });

  test("restricts by its country which numbers may be called", async () => {
    const { api } = await running.otherOrganization();
    await api.gql(CONNECT, { input: newAccount() });
    const assistantId = await newAssistant(api);
    const call = { assistantId, phoneNumber: "+442079460018" };
    const refused = await api.post("/rest/v1/call/phone", call, 400);
    expect(refused.message).toMatch(/phoneNumber: must be a number of CH/);
    await api.post("/rest/v1/call/phone", { ...call, phoneNumber: "+41446681800" }, 200);
  });
});
