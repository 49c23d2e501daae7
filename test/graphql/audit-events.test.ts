import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { recording } from "../support/audit";
import { newAssistant, newChat } from "../support/factories";

const running = useApp();
const LIST = `query ($first: Int, $after: String, $filter: AuditEventFilter) {
  auditEvents(first: $first, after: $after, filter: $filter) {
    nodes { position kind actor keyId person address interface operation recordType recordId fields { name digest } }
    pageInfo { hasNextPage endCursor } } }`;

interface Node {
  readonly position: number;
  readonly operation: string;
  readonly recordId: string;
  readonly fields: { name: string; digest: string | null }[];
}
const listed = async (variables: object): Promise<Node[]> =>
  (await running.api.gql(LIST, variables as Record<string, unknown>)).auditEvents.nodes;

describe("auditEvents", () => {
  test("lists an operation as soon as it was answered, newest first", async () => {
    const id = await newAssistant(running.api, { name: "Ada" });
    await running.api.patch(`/rest/v1/assistants/${id}`, { name: "Bea" }, 200);
    const [second, first] = await listed({ filter: { recordId: id } });
    expect([first, second]).toMatchObject([
      { operation: "createAssistant", interface: "REST", actor: "SECRET", recordType: "Assistant" },
      { operation: "updateAssistant", interface: "REST", fields: [{ name: "name", digest: null }] },
    ]);
    expect(second!.position).toBeGreaterThan(first!.position);
  });

  test("is paginated", async () => {
    for (const name of ["a", "b", "c"]) await newAssistant(running.api, { name });
    const all = await listed({ first: 100, filter: { operation: "createAssistant" } });
    const page = async (after?: string) =>
      (await running.api.gql(LIST, { first: 1, after, filter: { operation: "createAssistant" } }))
        .auditEvents;
    const one = await page();
    const two = await page(one.pageInfo.endCursor);
    expect([one.nodes[0], two.nodes[0]]).toEqual(all.slice(0, 2));
    expect(one.pageInfo.hasNextPage).toBe(true);
  });

  test("finds operations by and about a person without containing their words and names", async () => {
    const assistantId = await newAssistant(running.api, { name: "Ada" });
    const START = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";
    const person = "grace.hopper@example.com";
    const { startChat } = await running.api.gql(START, { input: { assistantId, uniqueId: person } });
    const [found, ...others] = await listed({ filter: { person } });
    expect(others).toEqual([]);
    expect(found).toMatchObject({ operation: "startChat", recordId: startChat.id });
    expect(JSON.stringify(await listed({ first: 100 }))).not.toContain(person);
    expect(await listed({ filter: { person: "somebody else" } })).toEqual([]);
  });

  test("can be filtered by kind, actor, key, time and record", async () => {
    const { token } = await running.api.post("/rest/v1/organization/token", { userId: "ada" }, 200);
    const id = await newAssistant(running.api.as({ Authorization: `Bearer ${token}` }), { name: "By Ada" });
    const [byToken] = await listed({ filter: { actor: "TOKEN", person: "ada" } });
    expect(byToken).toMatchObject({ operation: "createAssistant", recordId: id });
    const kinds = async (filter: object) =>
      new Set((await listed({ first: 100, filter })).map(({ operation }) => operation));
    expect([...(await kinds({ kind: "DISCLOSURE", recordType: "Organization" }))]).toContain("issueToken");
    expect([...(await kinds({ from: "2999-01-01T00:00:00Z" }))]).toEqual([]);
    expect([...(await kinds({ to: "2001-01-01T00:00:00Z" }))]).toEqual([]);
    expect([...(await kinds({ keyId: "none" }))]).toEqual([]);
  });

  test("contains nothing of other organizations", async () => {
    const { api } = await running.otherOrganization();
    await newAssistant(running.api, { name: "Ada" });
    const { auditEvents } = await api.gql(LIST, {});
    expect(auditEvents.nodes.filter(({ operation }: Node) => operation === "createAssistant")).toEqual([]);
  });

  test("includes the head of the chain", async () => {
    await newAssistant(running.api, { name: "Ada" });
    const { auditHead } = await running.api.gql("{ auditHead { position hash } }");
    const [last] = await listed({ first: 1 });
    expect(auditHead).toEqual({ position: last!.position, hash: expect.stringMatching(/^[\da-f]{64}$/) });
  });
});

describe("the disclosure of a secret", () => {
  const disclosed = async (work: () => Promise<unknown>) => {
    const { id } = await running.api.get("/rest/v1/organization", 200);
    const { rows } = await recording(running.database, id, work);
    return rows.map(({ kind, operation, recordType, fields }) => [
      kind,
      operation,
      `${recordType}.${fields[0]?.name}`,
    ]);
  };
  const told = (operation: string, field: string) => [["DISCLOSURE", operation, field]];

  test.each([
    ["{ mine: keys { id value } }", told("keys", "Key.value")],
    ["{ ... { keys { ...f } } } fragment f on Key { v: value }", told("keys", "Key.value")],
    ["{ publicKey { value } }", []],
    ["{ keys { id } }", []],
    ["{ organization { analyticUrl } }", told("organization", "Organization.analyticUrl")],
    ["{ organization { id } }", []],
    ["mutation { identitySecret }", [["DISCLOSURE", "identitySecret", "Organization.undefined"]]],
  ])("is recorded: %s", async (query, expected) => {
    expect(await disclosed(() => running.api.gql(query))).toEqual(expected);
  });

  test("is recorded at any depth, for each record", async () => {
    const created = { url: "https://example.com/hook", secret: "shared between us" };
    await running.api.post("/rest/v1/settings", created, 201);
    const chatId = await newChat(running.api, await newAssistant(running.api, { name: "Ada" }));
    expect(chatId).toEqual(expect.any(String));
    const nested = "{ webhookDestinations { deliveries { nodes { destination { secret } } } } }";
    const rows = await disclosed(() => running.api.gql(nested));
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows)
      expect(row).toEqual(["DISCLOSURE", "webhookDestinations", "WebhookDestination.secret"]);
    expect(await disclosed(() => running.api.get("/rest/v1/settings", 201))).toEqual(
      told("webhookDestinations", "WebhookDestination.secret"),
    );
  });

  test.each([
    ["identitySecret", `mutation { identitySecret deleteLog(assistantId: "none", id: "none") { id } }`],
    ["identitySecret", `mutation { deleteLog(assistantId: "none", id: "none") { id } identitySecret }`],
  ])("is recorded if the response also contains errors: %s", async (operation, query) => {
    const rows = await disclosed(async () => {
      const { body } = await running.api.graphql(query);
      expect(body.errors).toHaveLength(1);
      expect(body.data[operation]).toBeTruthy();
    });
    expect(rows.map(([kind, name]) => [kind, name])).toEqual([["DISCLOSURE", operation]]);
  });

  const REPEATED: [string, number, string, object, string][] = [
    ["a key", 200, "/rest/v1/organization/keys", {}, "createKey Key.value"],
    ["a token", 200, "/rest/v1/organization/token", { userId: "ada" }, "issueToken Organization.userId"],
    [
      "a destination",
      201,
      "/rest/v1/settings",
      { url: "https://example.com/again", secret: "shared" },
      "createWebhookDestination WebhookDestination.secret",
    ],
  ];
  test.each(REPEATED)(
    "is recorded when the response to a repeated request contains %s again",
    async (_, status, path, input, expected) => {
      const headers = { "Idempotency-Key": path };
      const first = await running.api.post(path, input, status, headers);
      const rows = await disclosed(async () =>
        expect(await running.api.post(path, input, status, headers)).toEqual(first),
      );
      expect(rows.map(([kind, operation, field]) => `${kind} ${operation} ${field}`)).toEqual([
        `DISCLOSURE ${expected}`,
      ]);
    },
  );

  test("is neither made nor recorded for callers that see a masked value", async () => {
    const { token } = await running.api.post("/rest/v1/organization/token", {}, 200);
    const bearer = running.api.as({ Authorization: `Bearer ${token}` });
    expect(await disclosed(() => bearer.gql("{ keys { value } }"))).toEqual([]);
  });
});
