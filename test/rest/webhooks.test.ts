import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { EVENT_NAMES } from "../../src/platform/database/tables/event-names";
import { endChat, newChat, quietAssistant, say, UNKNOWN_ID } from "../support/factories";

const running = useApp();
const PATH = "/rest/v1/settings";
const URL = "https://example.com/hooks?x=1";
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const moment = expect.stringMatching(TIME);

describe("a webhook destination", () => {
  test("is created with 201 and every documented field, with the secret as sent", async () => {
    const { api } = running;
    const made = await api.post(PATH, { url: URL, secret: "s3cret ü", name: "Production" }, 201);
    expect(made).toEqual({
      id: expect.any(String),
      url: URL,
      name: "Production",
      secret: "s3cret ü",
      createdAt: moment,
      updatedAt: moment,
    });
    expect(await api.get(PATH, 201)).toContainEqual(made);
  });

  test.each([[{}], [{ name: null }]])("without a name (%j) has the name null", async (name) => {
    const { api } = running;
    const made = await api.post(PATH, { url: URL, secret: "s", ...name }, 201);
    expect(made).toHaveProperty("name", null);
    expect(await api.get(PATH, 201)).toContainEqual(made);
  });

  test("changes only the fields of a PATCH, and its updatedAt", async () => {
    const { api } = running;
    const made = await api.post(PATH, { url: URL, secret: "old", name: "One" }, 201);
    const path = `${PATH}/${made.id}`;
    const renamed = await api.patch(path, { name: "Two" }, 200);
    expect(renamed).toEqual({ ...made, name: "Two", updatedAt: moment });
    expect(Date.parse(renamed.updatedAt)).toBeGreaterThanOrEqual(Date.parse(made.updatedAt));
    expect(await api.patch(path, { secret: "new" }, 200)).toMatchObject({
      name: "Two",
      secret: "new",
      url: URL,
    });
    expect(await api.patch(path, { url: "http://localhost:1/x" }, 200)).toMatchObject({
      url: "http://localhost:1/x",
      secret: "new",
    });
    expect(await api.patch(path, { name: null }, 200)).toHaveProperty("name", null);
  });

  test.each([
    ["whsec_@@@", true],
    ["whsec_", true],
    ["whsec_abc", true],
    ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS=x", true],
    ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", false],
    ["whsec_YQ==", false],
    ["topsecret", false],
  ])("with the secret %s: a Warning if libraries refuse it (%s)", async (secret, isRefused) => {
    const { api } = running;
    const warning = isRefused ? expect.stringContaining("libraries for Standard Webhooks refuse it") : null;
    const made = await api.request("POST", PATH, { url: URL, secret });
    expect([made.status, made.headers.get("warning")]).toEqual([201, warning]);
    const changed = await api.request("PATCH", `${PATH}/${made.body.id}`, { secret });
    expect([changed.status, changed.headers.get("warning")]).toEqual([200, warning]);
    const renamed = await api.request("PATCH", `${PATH}/${made.body.id}`, { name: "Two" });
    expect(renamed.headers.get("warning")).toBeNull();
  });

  test("accepts the body that was read from it", async () => {
    const { api } = running;
    const made = await api.post(PATH, { url: URL, secret: "s" }, 201);
    const { updatedAt: _, ...kept } = made;
    expect(await api.patch(`${PATH}/${made.id}`, made, 200)).toMatchObject(kept);
  });

  test("is returned when it is deleted, and then returns 404", async () => {
    const { api } = running;
    const made = await api.post(PATH, { url: URL, secret: "s", name: "Gone" }, 201);
    expect(await api.delete(`${PATH}/${made.id}`, 200)).toEqual(made);
    expect((await api.delete(`${PATH}/${made.id}`, 404)).code).toBe("WEBHOOK_DESTINATION_NOT_FOUND");
    expect(await api.get(PATH, 201)).not.toContainEqual(made);
  });

  test("that does not exist returns 404", async () => {
    for (const id of [UNKNOWN_ID, "x"]) {
      expect((await running.api.patch(`${PATH}/${id}`, { name: "x" }, 404)).statusCode).toBe(404);
      await running.api.delete(`${PATH}/${id}`, 404);
    }
  });

  test.each([
    ["url", { secret: "s" }],
    ["secret", { url: URL }],
    ["url", { url: "not a url", secret: "s" }],
    ["url", { url: "ftp://example.com", secret: "s" }],
    ["url", { url: "https://user:pass@example.com", secret: "s" }],
    ["url", { url: null, secret: "s" }],
    ["secret", { url: URL, secret: "" }],
    ["secret", { url: URL, secret: 5 }],
    ["name", { url: URL, secret: "s", name: {} }],
    ["events", { url: URL, secret: "s", events: "session-end" }],
  ])("with a wrong %s returns 400: %j", async (path, body) => {
    const refused = await running.api.post(PATH, body, 400);
    expect(refused).toMatchObject({ statusCode: 400, error: "Bad Request", code: "BAD_USER_INPUT" });
    expect(refused.details).toEqual([{ path, message: expect.any(String) }]);
  });

  test("gets one error per invalid field", async () => {
    const { details } = await running.api.post(PATH, { url: "here", secret: "", name: 5 }, 400);
    expect(details.map(({ path }: { path: string }) => path).sort()).toEqual(["name", "secret", "url"]);
  });

  test("rejects null for url and secret", async () => {
    const { api } = running;
    const { id } = await api.post(PATH, { url: URL, secret: "s" }, 201);
    const { details } = await api.patch(`${PATH}/${id}`, { url: null, secret: null }, 400);
    expect(details).toEqual([
      { path: "url", message: "must not be null" },
      { path: "secret", message: "must not be null" },
    ]);
  });

  test("has its secret encrypted in the database", async () => {
    const { id } = await running.api.post(PATH, { url: URL, secret: "plain-to-see" }, 201);
    const rows = await running.database.query("select * from webhook_destinations where id = $1", [id]);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain("plain-to-see");
  });
});

describe("the events of a destination", () => {
  const CHOICE = ["session-end", "conversation-updated"];
  const GET = `query ($projectId: ID) { webhookDestinations(projectId: $projectId) {
    id events deliveries(first: 50) { nodes { event { name } } } } }`;
  /** Events delivered to a destination, by name. */
  const delivered = async (api: typeof running.api, id: string, projectId?: string) => {
    const found = (await api.gql(GET, { projectId })).webhookDestinations as {
      id: string;
      deliveries: { nodes: { event: { name: string } }[] };
    }[];
    const { nodes } = found.find((one) => one.id === id)!.deliveries;
    return [...new Set(nodes.map(({ event }) => event.name))].sort();
  };
  const converse = async (api: typeof running.api, assistantId: string) => {
    const chatId = await newChat(api, assistantId);
    await say(api, chatId, "Hello");
    await endChat(api, chatId);
  };

  test("are in the answer only after a choice, which null and an empty list take back", async () => {
    const { api } = running;
    const made = await api.post(PATH, { url: URL, secret: "s", events: [...CHOICE, "session-end"] }, 201);
    expect(made.events).toEqual(CHOICE);
    expect(await api.patch(`${PATH}/${made.id}`, { name: "kept" }, 200)).toMatchObject({ events: CHOICE });
    for (const none of [null, []]) {
      expect(await api.patch(`${PATH}/${made.id}`, { events: none }, 200)).not.toHaveProperty("events");
      await api.patch(`${PATH}/${made.id}`, { events: ["call-recording"] }, 200);
    }
    const without = await api.post(PATH, { url: URL, secret: "s", events: [] }, 201);
    expect(without).not.toHaveProperty("events");
    const { webhookDestinations: all } = await api.gql("{ webhookDestinations { id events } }");
    expect(all).toContainEqual({ id: made.id, events: ["call-recording"] });
    expect(all).toContainEqual({ id: without.id, events: null });
  });

  test("are refused by name with the list of those that exist, on both interfaces", async () => {
    const input = { url: URL, secret: "s", events: ["session-end", "session-over"] };
    const message = `must be one of ${EVENT_NAMES.join(", ")}; got "session-over"`;
    const { details } = await running.api.post(PATH, input, 400);
    expect(details).toEqual([{ path: "events.1", message }]);
    const create = `mutation ($input: CreateWebhookDestinationInput!) { createWebhookDestination(input: $input) { id } }`;
    expect((await running.api.gqlError(create, { input })).extensions).toMatchObject({
      code: "BAD_USER_INPUT",
      details: [{ path: "input.events.1", message }],
    });
  });

  test("are the only ones that are sent and replayed to it, unless a replay names another", async () => {
    const { api } = await running.otherOrganization();
    const choosing = await api.post(PATH, { url: URL, secret: "s", events: CHOICE }, 201);
    const other = await api.post(PATH, { url: URL, secret: "s" }, 201);
    await converse(api, await quietAssistant(api));
    expect(await delivered(api, choosing.id)).toEqual(CHOICE.toSorted());
    const all = [...CHOICE, "session-start", "status-changed"].sort();
    expect(await delivered(api, other.id)).toEqual(all);
    const replay = async (filter: object) =>
      (
        await api.gql("mutation ($input: ReplayEventsInput!) { replayEvents(input: $input) { events } }", {
          input: { destinationId: choosing.id, filter },
        })
      ).replayEvents.events;
    expect(await replay({})).toBe(2);
    expect(await replay({ name: "session-start" })).toBe(1);
  });

  test("do not lead events of a project back to the destinations of the organization", async () => {
    const { api } = await running.otherOrganization();
    const whole = await api.post(PATH, { url: URL, secret: "s" }, 201);
    const { createProject } = await api.gql(`mutation { createProject(input: { name: "Berlin" }) { id } }`);
    const projectId = createProject.id;
    const { createWebhookDestination: own } = await api.gql(
      `mutation ($input: CreateWebhookDestinationInput!) { createWebhookDestination(input: $input) { id } }`,
      { input: { url: URL, secret: "s", projectId, events: ["session-end"] } },
    );
    const { createAssistant } = await api.gql(
      `mutation ($input: CreateAssistantInput!) { createAssistant(input: $input) { id } }`,
      { input: { name: "Ada", projectId } },
    );
    await converse(api, createAssistant.id);
    expect(await delivered(api, own.id, projectId)).toEqual(["session-end"]);
    expect(await delivered(api, whole.id)).toEqual([]);
  });
});

test("the list is a plain array with 201, newest first", async () => {
  const { api } = await running.otherOrganization();
  expect(await api.get(PATH, 201)).toEqual([]);
  const one = await api.post(PATH, { url: URL, secret: "1" }, 201);
  const two = await api.post(PATH, { url: URL, secret: "2" }, 201);
  expect(await api.get(PATH, 201)).toEqual([two, one]);
});

test("GET settings/secret returns 201 with a new secret as a JSON string, and stores nothing", async () => {
  const { api } = await running.otherOrganization();
  const { id: _, ...before } = await api.post(PATH, { url: URL, secret: "mine" }, 201);
  const answers = [await api.request("GET", `${PATH}/secret`), await api.request("GET", `${PATH}/secret`)];
  for (const { status, headers, text, body } of answers) {
    expect([status, headers.get("content-type")]).toEqual([201, "application/json; charset=utf-8"]);
    expect(typeof body).toBe("string");
    expect(text).toBe(JSON.stringify(body));
    expect(body.length).toBeGreaterThanOrEqual(32);
  }
  expect(answers[0]!.body).not.toBe(answers[1]!.body);
  expect(await api.get(PATH, 201)).toEqual([expect.objectContaining(before)]);
  await api.post(PATH, { url: URL, secret: answers[0]!.body }, 201);
});

describe("without a credential, from this machine", () => {
  const nobody = () => running.api.as({});

  test("the settings are those of the default organization only", async () => {
    const { api: other } = await running.otherOrganization();
    const theirs = await other.post(PATH, { url: URL, secret: "theirs" }, 201);
    const made = await nobody().post(PATH, { url: URL, secret: "open" }, 201);
    expect(await running.api.get(PATH, 201)).toContainEqual(made);
    expect(await nobody().get(PATH, 201)).not.toContainEqual(theirs);
    await nobody().patch(`${PATH}/${theirs.id}`, { name: "x" }, 404);
    await nobody().delete(`${PATH}/${theirs.id}`, 404);
    expect(await nobody().delete(`${PATH}/${made.id}`, 200)).toEqual(made);
  });

  test("GraphQL returns no settings", async () => {
    const { extensions } = await nobody().gqlError("{ webhookDestinations { id } }");
    expect(extensions.code).toBe("UNAUTHENTICATED");
  });

  test("a wrong credential is rejected where no credential would be accepted", async () => {
    const wrong = running.api.as({ "X-API-Key": "wrong" });
    expect((await wrong.get(PATH, 401)).code).toBe("UNAUTHENTICATED");
  });
});
