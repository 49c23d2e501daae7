import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { EVENT_NAMES, EVENT_VERSIONS } from "../../src/platform/database/tables/event-names";
import { EVENT_CONTRACTS } from "../../src/events/schemas/payloads";
import { useApp } from "../support/app";
import { AsyncApi } from "../support/async-api";
import { FAST } from "../support/calls";
import { queueAll } from "../support/database";
import { causeEveryEvent } from "../support/every-event";
import { Receiver, type ReceivedRequest } from "../support/receiver";
import { until } from "../support/until";

const running = useApp(FAST);

/** The header of samples. */
const SAMPLE = "webhook-sample";

const CREATE = `mutation ($input: CreateWebhookDestinationInput!) { createWebhookDestination(input: $input) { id } }`;
const REPLAY = "mutation ($input: ReplayEventsInput!) { replayEvents(input: $input) { events } }";
const DELIVERIES = `{ webhookDestinations { id deliveries(first: 100) { nodes { id event { id } } } } }`;

/** An event as its deliveries must name it. */
interface Expected {
  readonly name: (typeof EVENT_NAMES)[number];
  readonly chatId: string | undefined;
}

interface Parameter {
  readonly name: string;
  readonly schema: { readonly pattern?: string; readonly enum?: readonly string[] };
}

let receiver: Receiver;
/** The organization's destination, created over REST, and one of a project, created in GraphQL. */
const destinations = { organization: "", project: "" };
const events = new Map<string, Expected>();
/** Attempts of all events, each refused. */
let live: ReceivedRequest[];

beforeAll(async () => {
  const { api } = running;
  receiver = await new Receiver((res) => void res.writeHead(500).end()).start();
  const input = { url: receiver.url, secret: "s" };
  ({ id: destinations.organization } = await api.post("/rest/v1/settings", input, 201));
  for (const [chatId, own] of await causeEveryEvent(running))
    for (const { id, name } of own) events.set(id, { name: name as Expected["name"], chatId });
  // A retry may come before the first attempt of a late event.
  await until(() => [...events.keys()].every((id) => receiver.received.some((one) => idOf(one) === id)));
  live = receiver.received.splice(0);
  const { createProject } = await api.gql(`mutation { createProject(input: { name: "Berlin" }) { id } }`);
  const made = await api.gql(CREATE, { input: { ...input, projectId: createProject.id } });
  destinations.project = made.createWebhookDestination.id;
  await running.database.query("update deliveries set status = 'FAILED'"); // no retries until a test wants them
  receiver.answer((res) => res.end("ok"));
});
afterAll(() => receiver?.stop());
beforeEach(() => void receiver.received.splice(0));

const idOf = ({ headers }: ReceivedRequest) => String(headers["webhook-id"]);
const namesOf = ({ headers }: ReceivedRequest) => ({
  event: headers["webhook-event"],
  schema: headers["webhook-schema"],
  chatId: headers["webhook-chat-id"],
});
const expected = ({ name, chatId }: Expected) => ({
  event: name,
  schema: `${name}/${EVENT_VERSIONS[name]}`,
  chatId,
});

/** Expects each of the requests to name its event, and every event to be among them. */
function expectNamed(requests: readonly ReceivedRequest[], name: string): void {
  const own = requests.filter((request) => events.get(idOf(request))?.name === name);
  expect(own.length).toBeGreaterThan(0);
  for (const request of own) expect(namesOf(request)).toEqual(expected(events.get(idOf(request))!));
  for (const { body } of own) expect(body).toMatchObject({ event: name });
}

/** Stores an event without a chat's help, and sends it to the destination. @returns its request */
async function sendStored(event: { name: string; chatId: string | null }): Promise<ReceivedRequest> {
  const { id } = (
    await running.database.query<{ id: string }>(
      `with event as (
       insert into events (organization_id, id, name, type, assistant_id, chat_id, body)
       select organization_id, gen_random_uuid(), $2, 'TEXT', 'a', $3, '{}' from webhook_destinations where id = $1
       returning organization_id, id
     )
     insert into deliveries (organization_id, id, event_id, destination_id)
     select organization_id, gen_random_uuid(), id, $1 from event returning event_id as id`,
      [destinations.organization, event.name, event.chatId],
    )
  )[0]!;
  await queueAll(running.database);
  const [request] = await receiver.until(1, (received) => idOf(received) === id);
  return request!;
}

describe.each(EVENT_NAMES)("%s is named, with its version and its conversation, in", (name) => {
  test("a first attempt", () => expectNamed(live, name));

  test("a retry", async () => {
    const pending = await running.database.query(
      `update deliveries d set status = 'PENDING', next_attempt_at = now() from events e
       where e.organization_id = d.organization_id and e.id = d.event_id and e.name = $1 and d.destination_id = $2 returning d.id`,
      [name, destinations.organization],
    );
    await queueAll(running.database);
    expectNamed(await receiver.until(pending.length), name);
  });

  test.each(Object.keys(destinations) as (keyof typeof destinations)[])(
    "a replay to a destination of the %s",
    async (kind) => {
      const input = { destinationId: destinations[kind], filter: { name }, dryRun: false };
      const { replayEvents } = await running.api.gql(REPLAY, { input });
      expectNamed(await receiver.until(replayEvents.events), name);
    },
  );

  test("a delivery that is repeated", async () => {
    const { webhookDestinations } = await running.api.gql(DELIVERIES);
    const { nodes } = webhookDestinations[0].deliveries;
    const { id } = nodes.find((node: { event: { id: string } }) => events.get(node.event.id)?.name === name);
    await running.api.gql("mutation ($id: ID!) { redeliver(deliveryId: $id) { id } }", { id });
    expectNamed(await receiver.until(1), name);
  });
});

test("a test of a destination names its event, and no conversation", async () => {
  const id = destinations.organization;
  await running.api.gql("mutation ($id: ID!) { testWebhookDestination(id: $id) { id } }", { id });
  const [request] = await receiver.until(1);
  expect(namesOf(request!)).toEqual(expected({ name: "interaction-status", chatId: undefined }));
  expect(request!.headers).not.toHaveProperty("webhook-chat-id");
  expect(request!.headers[SAMPLE]).toBe("true");
});

test("samples of the chosen events name their events and no conversation, and are signed and marked", async () => {
  const id = destinations.organization;
  const chosen: Expected["name"][] = ["session-end", "function-call"];
  await running.api.patch(`/rest/v1/settings/${id}`, { events: chosen }, 200);
  const { sendSampleEvents } = await running.api.gql(
    "mutation ($id: ID!) { sendSampleEvents(id: $id) { event { name payload } } }",
    { id },
  );
  await running.api.patch(`/rest/v1/settings/${id}`, { events: [] }, 200);
  const requests = await receiver.until(2);
  for (const name of chosen) {
    const sent = requests.find(({ body }) => body.event === name)!;
    expect(namesOf(sent)).toEqual(expected({ name, chatId: undefined }));
    expect(sent.headers[SAMPLE]).toBe("true");
    expect(sent.headers["x-signature"]).toBe(createHmac("sha256", "s").update(sent.text).digest("hex"));
    expect(sendSampleEvents).toContainEqual({ event: { name, payload: sent.body } });
    const { example } = EVENT_CONTRACTS.find((event) => event.name === name)!;
    expect(sent.body).toEqual({ ...example, companionId: "test" });
  }
});

describe("a stored event", () => {
  test("without a conversation is delivered without the header of its id", async () => {
    const request = await sendStored({ name: "session-end", chatId: null });
    expect(namesOf(request)).toEqual(expected({ name: "session-end", chatId: undefined }));
  });

  test("that this version does not know is delivered without a version", async () => {
    const request = await sendStored({ name: "chat-rated", chatId: "c1" });
    expect(namesOf(request)).toEqual({ event: "chat-rated", schema: undefined, chatId: "c1" });
  });

  test.each(["a\r\nx-signature: forged", "a b", "ü", "", "x".repeat(256)])(
    "with a value that no header may have (%j) is delivered without that header",
    async (unsafe) => {
      const request = await sendStored({ name: "session-end", chatId: unsafe });
      expect(namesOf(request)).toEqual(expected({ name: "session-end", chatId: undefined }));
      expect(namesOf(await sendStored({ name: unsafe, chatId: "c1" }))).toMatchObject({ chatId: "c1" });
    },
  );
});

describe("the documentation", () => {
  const own = () => Object.keys(live[0]!.headers).filter((name) => /^(webhook|x)-/.test(name));

  test("in docs/webhooks.md names every header of a delivery", () => {
    const page = readFileSync(join(__dirname, "../../docs/webhooks.md"), "utf8");
    expect(own()).toHaveLength(7);
    expect([...own(), SAMPLE].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  test("in AsyncAPI is valid, and has the headers and payloads of all deliveries and of its examples", async () => {
    const asyncApi = await AsyncApi.of(running.api);
    expect(asyncApi.documentProblems()).toEqual([]);
    const sent = live.map(({ headers, body }) => ({ name: String(body.event), headers, payload: body }));
    const { messages } = asyncApi.document.components;
    expect(Object.keys(messages).sort()).toEqual([...new Set(sent.map(({ name }) => name))].sort());
    const examples = Object.entries(messages).flatMap(([name, message]) =>
      message.examples.map((example) => ({ name, ...example })),
    );
    for (const { name, ...message } of [...sent, ...examples])
      expect([name, asyncApi.problems(name, message)]).toEqual([name, []]);
    const { headers, payload } = examples[0]!;
    const wrong = { headers: { ...headers, "x-signature": "?" }, payload: { ...payload, data: {} } };
    expect(asyncApi.problems(examples[0]!.name, wrong)).toHaveLength(2);
  });

  test("in OpenAPI has exactly these headers, with values that real deliveries match", async () => {
    const { webhooks, components } = await running.api.get("/rest/openapi.json", 200);
    expect(Object.keys(webhooks).sort()).toEqual([...EVENT_NAMES].sort());
    for (const { headers } of live) {
      const listed = webhooks[String(headers["webhook-event"])].post.parameters as (
        Parameter | { readonly $ref: string }
      )[];
      const parameters = listed.map((one): Parameter =>
        "$ref" in one ? components.parameters[one.$ref.split("/").pop()!] : one,
      );
      expect(parameters.map(({ name }) => name).sort()).toEqual([...own(), SAMPLE].sort());
      for (const { name, schema } of parameters.filter((one) => one.name !== SAMPLE)) {
        const value = String(headers[name]);
        expect(value).toMatch(new RegExp(schema.pattern ?? "."));
        expect(schema.enum ?? [value]).toContain(value);
      }
    }
  });
});
