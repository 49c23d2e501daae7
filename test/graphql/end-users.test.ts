import { createHmac } from "node:crypto";
import { afterEach, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant, newChat } from "../support/factories";
import { importerOf } from "../support/importers";

const running = useApp();

const USER = "user { id uniqueId facts { text } chats(first: 5) { nodes { id } } }";

describe("the end user of a chat", () => {
  test("is identified by its uniqueId, with all their chats with any assistant", async () => {
    const { api } = running;
    const [one, two] = [await newAssistant(api), await newAssistant(api)];
    const first = await newChat(api, one, { uniqueId: "zoe" });
    const second = await newChat(api, two, { uniqueId: "zoe" });
    await newChat(api, one, { uniqueId: "tom" });
    const { chat } = await api.gql(`query ($id: ID!) { chat(id: $id) { ${USER} } }`, { id: first });
    expect(chat.user).toEqual({
      id: expect.any(String),
      uniqueId: "zoe",
      facts: [],
      chats: { nodes: [{ id: second }, { id: first }] },
    });
    const { endUser } = await api.gql(`{ endUser(uniqueId: "zoe") { id } }`);
    expect(endUser.id).toBe(chat.user.id);
  });

  test("is null without a uniqueId", async () => {
    const { api } = running;
    const id = await newChat(api, await newAssistant(api));
    expect((await api.gql(`query ($id: ID!) { chat(id: $id) { ${USER} } }`, { id })).chat.user).toBeNull();
  });
});

test("the list of end users has each person once, in pages, with what all assistants remember", async () => {
  const { api } = await running.otherOrganization();
  const [one, two] = [await newAssistant(api), await newAssistant(api)];
  for (const uniqueId of ["zoe", "tom", "ada"]) await newChat(api, one, { uniqueId });
  await newChat(api, two, { uniqueId: "zoe" });
  const importer = await importerOf(api);
  const facts = [two, one].map((assistantId, index) => ({
    ...{
      assistantId,
      text: `Fact ${index}.`,
      signed: true,
      createdAt: `2022-01-0${index + 1}T00:00:00.000Z`,
    },
  }));
  await importer.gql(
    'mutation ($facts: [ImportEndUserFactInput!]!) { importEndUserFacts(uniqueId: "zoe", facts: $facts) { imported } }',
    { facts },
  );
  const LIST = `query ($after: String) { endUsers(first: 2, after: $after, orderBy: OLDEST_FIRST) {
    nodes { id uniqueId facts { text } } pageInfo { endCursor hasNextPage } totalCount } }`;
  const { endUsers: first } = await api.gql(LIST, { after: null });
  expect(first).toMatchObject({
    nodes: [
      { uniqueId: "zoe", facts: [{ text: "Fact 0." }, { text: "Fact 1." }] },
      { uniqueId: "tom", facts: [] },
    ],
    pageInfo: { hasNextPage: true },
    totalCount: 3,
  });
  const { endUsers: last } = await api.gql(LIST, { after: first.pageInfo.endCursor });
  expect(last).toMatchObject({ nodes: [{ uniqueId: "ada" }], pageInfo: { hasNextPage: false } });
  const { endUser } = await api.gql('{ endUser(uniqueId: "zoe") { id } }');
  expect(first.nodes[0].id).toBe(endUser.id);
});

describe("if an organization requires signed ids", () => {
  const SWITCH = `mutation ($on: Boolean!) { updateOrganization(input: { requireSignedIdentity: $on }) { requireSignedIdentity } }`;
  const START = `mutation ($input: StartChatInput!) { startChat(input: $input) { id user { uniqueId } } }`;
  const demand = async (on: boolean) => (await running.api.gql(SWITCH, { on })).updateOrganization;
  const signed = (id: string, secret: string) => createHmac("sha256", secret).update(id).digest("hex");
  test("is disclosed to a SECRET key only", async () => {
    const { token } = await running.api.post("/rest/v1/organization/token", {}, 200);
    const credentials: Record<string, string>[] = [
      { Authorization: `Bearer ${token}` },
      { "X-API-Key": running.publicKey },
    ];
    const codes = await Promise.all(
      credentials.map(async (credential) => {
        const { extensions } = await running.api.as(credential).gqlError("mutation { identitySecret }", {});
        return extensions.code as string;
      }),
    );
    expect(codes).toEqual(["UNAUTHENTICATED", "FORBIDDEN"]);
  });

  const secret = async () => (await running.api.gql("mutation { identitySecret }")).identitySecret as string;
  afterEach(() => demand(false));

  test("ids without a signature, with a wrong one or with another person's are refused", async () => {
    const assistantId = await newAssistant(running.api);
    expect(await demand(true)).toEqual({ requireSignedIdentity: true });
    const key = await secret();
    const wrong = [
      undefined,
      "",
      signed("tom", key),
      signed("zoe", "another secret"),
      `${signed("zoe", key)}00`,
    ];
    for (const uniqueIdSignature of wrong) {
      const error = await running.api.gqlError(START, {
        input: { assistantId, uniqueId: "zoe", uniqueIdSignature },
      });
      expect(error.extensions.code).toBe(uniqueIdSignature === "" ? "BAD_USER_INPUT" : "FORBIDDEN");
      if (uniqueIdSignature !== "")
        expect(error.message).toMatch(
          uniqueIdSignature === undefined ? /must be signed/ : /uniqueIdSignature does not match uniqueId/,
        );
    }
  });

  test("signed ids are accepted, in lower and upper case, and chats without an id need no signature", async () => {
    const assistantId = await newAssistant(running.api);
    await demand(true);
    const uniqueIdSignature = signed("zoe", await secret());
    for (const signature of [uniqueIdSignature, uniqueIdSignature.toUpperCase()]) {
      const input = { assistantId, uniqueId: "zoe", uniqueIdSignature: signature };
      expect((await running.api.gql(START, { input })).startChat.user).toEqual({ uniqueId: "zoe" });
    }
    await running.api.gql(START, { input: { assistantId } });
  });

  test("the requirement applies to that organization only, until it is switched off", async () => {
    await demand(true);
    const other = await running.otherOrganization();
    await newChat(other.api, await newAssistant(other.api), { uniqueId: "zoe" });
    expect(
      (await other.api.gql("{ organization { requireSignedIdentity } }")).organization.requireSignedIdentity,
    ).toBe(false);
    expect(await demand(false)).toEqual({ requireSignedIdentity: false });
    const assistantId = await newAssistant(running.api);
    await newChat(running.api, assistantId, { uniqueId: "zoe" });
    const forged = { assistantId, uniqueId: "zoe", uniqueIdSignature: signed("zoe", "another secret") };
    expect((await running.api.gqlError(START, { input: forged })).extensions.code).toBe("FORBIDDEN");
  });

  test("null is refused as the value of the setting", async () => {
    const change =
      "mutation ($input: UpdateOrganizationInput!) { updateOrganization(input: $input) { id requireSignedIdentity } }";
    const error = await running.api.gqlError(change, { input: { requireSignedIdentity: null } });
    expect(error.extensions).toMatchObject({ code: "BAD_USER_INPUT" });
    expect((await running.api.gql(change, { input: {} })).updateOrganization.requireSignedIdentity).toBe(
      false,
    );
  });
});
