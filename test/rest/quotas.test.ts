import { describe, expect, test } from "@jest/globals";
import { Quotas } from "../../src/account/organization/quotas";
import type { Answer } from "../support/api";
import { useApp } from "../support/app";
import { expectError } from "../support/errors";
import { endChat, newAssistant, newChat, quietAssistant } from "../support/factories";
import { storedKeys, upload, uploadByGraphQL } from "../support/files";
import { connect, newPerson, text } from "../support/sms";
import { VisitorClient } from "../support/visitor";

const MOST = 3;
const BYTES = 2_000_000;
const running = useApp({
  WORKER: "on",
  QUOTA_ASSISTANTS: String(MOST),
  QUOTA_FILES: String(MOST),
  QUOTA_STORED_BYTES: String(BYTES),
  QUOTA_LIVE_CHATS: String(MOST),
});

const ASSISTANTS = "/rest/v1/assistants";
const START = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";
const BUSY = "Sorry, we can't take more conversations at the moment. Please try again later.";

/** The error of a GraphQL operation or REST request that exceeds a quota. */
function expectExceeded(
  error: { message: string; code?: string; extensions?: { code: string } },
  setting: string,
) {
  expect(error.code ?? error.extensions?.code).toBe("QUOTA_EXCEEDED");
  expect(error.message).toContain(`(${setting})`);
  expect(error.message).toContain(`limit is ${setting === "QUOTA_STORED_BYTES" ? BYTES : MOST} `);
}
function expectRefused(answer: Answer, setting: string) {
  expectError(answer, 403, "QUOTA_EXCEEDED");
  expectExceeded(answer.body, setting);
}
const atOnce = <T>(times: number, work: () => Promise<T>) =>
  Promise.all(Array.from({ length: times }, () => work()));

describe("assistants over the quota", () => {
  test("are rejected when created and copied, on both interfaces, until one is deleted", async () => {
    const { api } = await running.otherOrganization();
    const ids = [await newAssistant(api), await newAssistant(api), await newAssistant(api)];
    const copy = `${ASSISTANTS}/duplicate/${ids[0]}`;
    expectRefused(await api.request("POST", ASSISTANTS, { name: "One more" }), "QUOTA_ASSISTANTS");
    expectRefused(await api.request("POST", copy), "QUOTA_ASSISTANTS");
    const CREATE = `mutation { createAssistant(input: { name: "One more" }) { id } }`;
    const COPY = "mutation ($id: ID!) { duplicateAssistant(id: $id) { id } }";
    expectExceeded(await api.gqlError(CREATE), "QUOTA_ASSISTANTS");
    expectExceeded(await api.gqlError(COPY, { id: ids[0] }), "QUOTA_ASSISTANTS");
    await api.delete(`${ASSISTANTS}/${ids[2]}`, 200);
    await api.post(copy, undefined, 200);
    expectRefused(await api.request("POST", ASSISTANTS, { name: "One more" }), "QUOTA_ASSISTANTS");
  });

  test("are rejected for concurrent requests; another organization has its own quota", async () => {
    const { api } = await running.otherOrganization();
    const answers = await atOnce(12, () => api.request("POST", ASSISTANTS, { name: "Ada" }));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(MOST);
    for (const answer of answers) if (answer.status !== 200) expectRefused(answer, "QUOTA_ASSISTANTS");
    await newAssistant((await running.otherOrganization()).api);
  });
});

describe("files over the quota", () => {
  const form = (size: number) => {
    const body = new FormData();
    body.set("file", new Blob(["x".repeat(size)]), "a.txt");
    return body;
  };
  const send = "/rest/v1/files/upload";

  test("are rejected by their number, on both interfaces, until one is deleted", async () => {
    const { api } = await running.otherOrganization();
    const [file] = [await upload(api), await upload(api), await upload(api)];
    expectRefused(await api.request("POST", send, form(1)), "QUOTA_FILES");
    expectExceeded((await uploadByGraphQL(api)).body.errors[0], "QUOTA_FILES");
    await api.delete(`/rest/v1/files/${file.id}`, 200);
    await upload(api);
  });

  test("are rejected by their bytes, of which nothing stays in the storage", async () => {
    const { api, organizationId } = await running.otherOrganization();
    const { id } = await upload(api, { content: "x".repeat(BYTES - 100_000) });
    expectRefused(await api.request("POST", send, form(100_000)), "QUOTA_STORED_BYTES");
    const large = await uploadByGraphQL(api, { content: "x".repeat(100_000) });
    expectExceeded(large.body.errors[0], "QUOTA_STORED_BYTES");
    expect(await storedKeys(running, organizationId)).toEqual([`${organizationId}/${id}`]);
    await upload(api, { content: "x".repeat(50_000) }); // rows take some of it too
  });

  test("are rejected at the first byte beyond the limit", async () => {
    const { organizationId } = await running.otherOrganization();
    const scope = running.app.database.scope(organizationId);
    const room = await scope.of(Quotas).roomForFile();
    const check = (size: number) => scope.transaction((scope) => scope.of(Quotas).checkFile(size));
    await expect(check(room)).resolves.toBeUndefined();
    await expect(check(room + 1)).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
  });

  test.each([
    ["number", 10, "QUOTA_FILES", MOST],
    ["bytes", 1_200_000, "QUOTA_STORED_BYTES", 1],
  ])("are rejected by their %s for concurrent uploads", async (_by, size, setting, most) => {
    const { api, organizationId } = await running.otherOrganization();
    const answers = await atOnce(8, () => api.request("POST", send, form(size)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(most);
    for (const answer of answers) if (answer.status !== 201) expectRefused(answer, setting);
    expect(await storedKeys(running, organizationId)).toHaveLength(most);
  });
});

/** An organization that has reached its limit of live chats. */
async function full() {
  const { api, publicKey } = await running.otherOrganization();
  const assistantId = await quietAssistant(api);
  const chats: string[] = [];
  while (chats.length < MOST) chats.push(await newChat(api, assistantId));
  return { api, publicKey, assistantId, chats };
}

describe("live chats over the quota", () => {
  const CALLED = { phoneNumber: "+41783000001" };

  test("are rejected on every interface that starts one, until one ends", async () => {
    const { api, publicKey, assistantId, chats } = await full();
    const visitor = await VisitorClient.of(running.url, publicKey, { assistantId });
    const WIDGET = (channel: string) => `mutation { startWidgetChat(input: { channel: ${channel} }) { id } }`;
    const PHONE = "mutation ($input: PlaceAssistantCallInput!) { placeAssistantCall(input: $input) { id } }";
    const WEB = "mutation ($input: StartWebCallInput!) { startWebCall(input: $input) { id } }";
    const refused = [
      await api.gqlError(START, { input: { assistantId } }),
      await visitor.api.gqlError(WIDGET("TEXT")),
      await visitor.api.gqlError(WIDGET("VOICE")),
      await api.gqlError(PHONE, { input: { assistantId, ...CALLED } }),
      await api.gqlError(WEB, { input: { assistantId } }),
    ];
    for (const error of refused) expectExceeded(error, "QUOTA_LIVE_CHATS");
    for (const [path, body] of [
      ["/rest/v1/call/phone", { assistantId, ...CALLED }],
      ["/rest/v1/call/web", { assistantId }],
    ] as const)
      expectRefused(await api.request("POST", path, body), "QUOTA_LIVE_CHATS");
    await endChat(api, chats[0]!);
    await visitor.start();
  });

  test("are counted together with those of assistants that a key cannot access", async () => {
    const { api } = await full();
    const assistantIds = [await newAssistant(api)];
    const { value } = await api.post("/rest/v1/organization/keys", { assistantIds }, 200);
    const limited = api.as({ "X-API-Key": value });
    const error = await limited.gqlError(START, { input: { assistantId: assistantIds[0] } });
    expectExceeded(error, "QUOTA_LIVE_CHATS");
  });

  test("are rejected for concurrent requests", async () => {
    const { api } = await running.otherOrganization();
    const assistantId = await quietAssistant(api);
    const answers = await atOnce(12, () => api.graphql(START, { input: { assistantId } }));
    expect(answers.filter(({ body }) => body.data?.startChat)).toHaveLength(MOST);
    for (const { body } of answers) if (body.errors) expectExceeded(body.errors[0], "QUOTA_LIVE_CHATS");
  });

  test("are not started by a text, which gets a fixed answer; a live one continues", async () => {
    const { api } = await running.otherOrganization();
    const assistantId = await quietAssistant(api);
    const number = await connect({ api }, [assistantId]);
    const here = { api, url: running.url };
    const person = newPerson();
    expect(await text(here, number, person, "Hello")).not.toContain(BUSY);
    const chats = [await newChat(api, assistantId), await newChat(api, assistantId)];
    const another = newPerson();
    expect(await text(here, number, another, "Hello")).toEqual([BUSY]);
    expect(await text(here, number, person, "Still there?")).not.toContain(BUSY);
    await endChat(api, chats[0]!);
    expect(await text(here, number, another, "And now?")).not.toContain(BUSY);
  });
});

test("a text beyond the storage quota gets a fixed answer, and is not stored", async () => {
  const { api, organizationId } = await running.otherOrganization();
  const number = await connect({ api }, [await quietAssistant(api)]);
  const here = { api, url: running.url };
  const person = newPerson();
  expect(await text(here, number, person, "Hello")).not.toContain(BUSY);
  const { database, app } = running;
  await database.query(
    `insert into stored_sizes (organization_id, bytes) values ($1, $2)
     on conflict (organization_id) do update set bytes = $2`,
    [organizationId, BYTES],
  );
  app.database.scope("").ports.quotas.usage.clear();
  expect(await text(here, number, person, "Still there?")).toEqual([BUSY]);
  const taken = "select 1 from messages where organization_id = $1 and content = 'Still there?'";
  expect(await database.query(taken, [organizationId])).toEqual([]);
});
