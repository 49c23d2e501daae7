import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { hangUpCall } from "../../src/channels/calls/hang-up-call";
import { startApp, useApp } from "../support/app";
import {
  callOf,
  ended,
  eventsOf,
  FAST,
  FORWARD,
  NUMBER,
  place,
  said,
  speaker,
  statusesOf,
} from "../support/calls";
import { newAssistant, UNKNOWN_ID } from "../support/factories";
import { Receiver } from "../support/receiver";
import { until } from "../support/until";
import { Subscriber } from "../support/subscriber";

const running = useApp(FAST);

const CALLS = `query ($first: Int, $after: String, $filter: CallFilter) {
  calls(first: $first, after: $after, filter: $filter) { nodes { id } edges { cursor node { id } } pageInfo { hasNextPage endCursor } } }`;

interface Connection {
  readonly nodes: { readonly id: string }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

describe("the calls of an organization", () => {
  const list = async (variables: object = {}) =>
    (await running.api.gql(CALLS, { ...variables })).calls as Connection;
  const ids = ({ nodes }: Connection) => nodes.map(({ id }) => id);

  test("are listed newest first, with cursors", async () => {
    const assistantId = await newAssistant(running.api);
    const made: string[] = [];
    for (let count = 0; count < 5; count++) made.unshift(await place(running.api, assistantId, NUMBER.busy));
    const filter = { assistantId };
    const first = await list({ first: 2, filter });
    expect([ids(first), first.pageInfo.hasNextPage]).toEqual([made.slice(0, 2), true]);
    const rest = await list({ first: 10, after: first.pageInfo.endCursor, filter });
    expect([ids(rest), rest.pageInfo.hasNextPage]).toEqual([made.slice(2), false]);
  });

  test("can be filtered by status, assistant, number, person, external id and time", async () => {
    const { api } = running;
    const [ada, bea] = [await speaker(api), await speaker(api)];
    const one = await place(api, ada, NUMBER.busy, { externalId: "x-1", userId: "grace" });
    await ended(api, one);
    const middle = new Date().toISOString();
    const two = await place(api, bea, NUMBER.endless, { externalId: "x-2", userId: "grace" });
    await until(async () => (await callOf(api, two)).status === "in-progress");
    const mine = { userId: "grace" };
    expect(ids(await list({ filter: mine }))).toEqual([two, one]);
    expect(ids(await list({ filter: { ...mine, status: "ended" } }))).toEqual([one]);
    expect(ids(await list({ filter: { ...mine, status: "in-progress" } }))).toEqual([two]);
    expect(ids(await list({ filter: { assistantId: ada } }))).toEqual([one]);
    expect(ids(await list({ filter: { ...mine, phoneNumber: NUMBER.endless } }))).toEqual([two]);
    expect(ids(await list({ filter: { externalId: "x-1" } }))).toEqual([one]);
    expect(ids(await list({ filter: { ...mine, from: middle } }))).toEqual([two]);
    expect(ids(await list({ filter: { ...mine, to: middle } }))).toEqual([one]);
    expect(ids(await list({ filter: { ...mine, externalId: "x-2", status: "ended" } }))).toEqual([]);
    await api.gql("mutation ($id: ID!) { cancelCall(id: $id) { id } }", { id: two });
  });

  test("can be canceled only while they are live", async () => {
    const { api } = running;
    const CANCEL = "mutation ($id: ID!) { cancelCall(id: $id) { id status endedReason endedAt } }";
    const id = await place(api, await speaker(api), NUMBER.endless);
    const { cancelCall } = await api.gql(CANCEL, { id });
    expect(cancelCall).toEqual({
      id,
      status: "ended",
      endedReason: "cancelled",
      endedAt: expect.any(String),
    });
    expect((await api.gqlError(CANCEL, { id })).extensions.code).toBe("CHAT_ENDED");
    expect(await callOf(api, id)).toMatchObject(cancelCall);
    const { api: theirs } = await running.otherOrganization();
    for (const [by, one] of [
      [api, UNKNOWN_ID],
      [theirs, id],
    ] as const)
      expect((await by.gqlError(CANCEL, { id: one })).extensions.code).toBe("CALL_NOT_FOUND");
  });

  test("are hidden from other organizations", async () => {
    const { api } = await running.otherOrganization();
    const id = await place(running.api, await newAssistant(running.api), NUMBER.busy);
    expect((await api.gql("{ calls { nodes { id } } }")).calls.nodes).toEqual([]);
    expect((await api.gqlError("query ($id: ID!) { call(id: $id) { id } }", { id })).extensions.code).toBe(
      "CALL_NOT_FOUND",
    );
  });

  test.each([{ first: 0 }, { first: 101 }, { filter: { status: null } }, { filter: { from: "yesterday" } }])(
    "are not listed with %j",
    async (wrong) => {
      expect((await running.api.gqlError(CALLS, wrong)).extensions.code).toMatch(/BAD_USER_INPUT/);
    },
  );

  test("do not include VOICE chats", async () => {
    const { api } = running;
    const { startChat } = await api.gql(
      "mutation ($id: ID!) { startChat(input: { assistantId: $id, channel: VOICE }) { id } }",
      { id: await newAssistant(api) },
    );
    for (const text of [
      "query ($id: ID!) { call(id: $id) { id } }",
      "mutation ($id: ID!) { cancelCall(id: $id) { id } }",
    ])
      expect((await api.gqlError(text, { id: startChat.id })).extensions.code).toBe("CALL_NOT_FOUND");
  });
});

describe("a request that would place several calls", () => {
  const INPUT = '(input: { assistantId: "x", phoneNumber: "+12025550100" })';
  const TO_WORKFLOW = '(input: { workflowId: "x", phoneNumber: "+12025550100" })';

  test.each([
    `mutation { a: placeAssistantCall${INPUT} { id } b: placeAssistantCall${INPUT} { id } }`,
    `mutation { placeAssistantCall${INPUT} { id } placeWorkflowCall${TO_WORKFLOW} { id } }`,
    `mutation { placeAssistantCall${INPUT} { id } startWebCall(input: { assistantId: "x" }) { id } }`,
    `mutation { ...one b: placeAssistantCall${INPUT} { id } } fragment one on Mutation { placeAssistantCall${INPUT} { id } }`,
    `mutation { ... on Mutation { placeAssistantCall${INPUT} { id } } ...two } fragment two on Mutation { ...three } fragment three on Mutation { b: placeAssistantCall${INPUT} { id } }`,
  ])("is refused with 400 and places none: %s", async (text) => {
    const { api } = await running.otherOrganization();
    const assistantId = await newAssistant(api);
    const { status, body } = await api.graphql(text.replaceAll('"x"', JSON.stringify(assistantId)));
    expect([status, body.errors.map(({ message }: { message: string }) => message)]).toEqual([
      400,
      ["A document may place only one call. Send a request for each call."],
    ]);
    expect((await api.gql("{ calls { nodes { id } } }")).calls.nodes).toEqual([]);
  });

  test("is allowed if its fragment is repeated, which places one call", async () => {
    const { api } = await running.otherOrganization();
    const input = INPUT.replace('"x"', JSON.stringify(await newAssistant(api)));
    await api.gql(
      `mutation { ...one ...two } fragment one on Mutation { placeAssistantCall${input} { id } } fragment two on Mutation { ...one }`,
    );
    expect((await api.gql("{ calls { nodes { id } } }")).calls.nodes).toHaveLength(1);
  });

  test("is allowed if only one of its operations places a call", async () => {
    const { api } = running;
    const assistantId = await newAssistant(api);
    const text = `mutation { placeAssistantCall${INPUT} { id status } updateAssistant(id: "x", input: { name: "Bea" }) { name } }`;
    const data = await api.gql(text.replaceAll('"x"', JSON.stringify(assistantId)));
    expect(data).toEqual({
      placeAssistantCall: { id: expect.any(String), status: "queued" },
      updateAssistant: { name: "Bea" },
    });
  });
});

const WATCH = `subscription ($callId: ID, $after: ID) { callEvents(callId: $callId, after: $after) {
  id status endedReason createdAt call { id status } } }`;
interface CallEvent {
  readonly id: string;
  readonly status: string;
  readonly endedReason: string | null;
  readonly call: { readonly id: string };
}

describe("the status of calls", () => {
  let subscriber: Subscriber;
  beforeAll(() => void (subscriber = new Subscriber(running.url, { "X-API-Key": running.secretKey })));
  afterAll(() => subscriber.close());
  const watch = (variables: Record<string, unknown>) => {
    const told: CallEvent[] = [];
    const over = subscriber.run(WATCH, variables, (data) =>
      told.push((data as { callEvents: CallEvent }).callEvents),
    );
    return { told, over };
  };

  test("is streamed for all calls, each change once", async () => {
    const { api } = running;
    const { told } = watch({});
    const assistantId = await speaker(api, { initialMessage: "" });
    // A subscription starts some time after its request.
    await until(async () => {
      await place(api, assistantId, NUMBER.refused);
      return told.length > 0;
    });
    const ids = [await place(api, assistantId, NUMBER.forwards), await place(api, assistantId, NUMBER.busy)];
    const of = (id: string) => told.filter(({ call }) => call.id === id).map(({ status }) => status);
    await until(() => ids.every((id) => of(id).at(-1) === "ended"));
    expect(ids.map(of)).toEqual([FORWARD, ["queued", "ringing", "ended"]]);
    expect(told.find(({ call, status }) => call.id === ids[1] && status === "ended")!.endedReason).toBe(
      "customer-busy",
    );
    expect(new Set(told.map(({ id }) => id)).size).toBe(told.length);
  });

  test("is streamed for one call until its end, and can be resumed after any event", async () => {
    const { api } = running;
    const id = await place(api, await speaker(api, { initialMessage: "" }), NUMBER.forwards);
    await ended(api, id);
    const [start] = await eventsOf(api, id);
    const all = watch({ callId: id, after: start!.id });
    expect(await all.over).toBeUndefined();
    expect(all.told.map(({ status }) => status)).toEqual(FORWARD);
    const later = watch({ callId: id, after: all.told[2]!.id });
    expect(await later.over).toBeUndefined();
    expect(later.told).toEqual(all.told.slice(3));
    const nothing = [watch({ callId: id }), watch({ callId: id, after: all.told.at(-1)!.id })];
    for (const { over, told } of nothing) expect([await over, told]).toEqual([undefined, []]);
  });

  test("is not streamed for an unknown call or event", async () => {
    const code = async (variables: Record<string, unknown>) =>
      ((await watch(variables).over) as { extensions: { code: string } }[])[0]!.extensions.code;
    expect(await code({ callId: UNKNOWN_ID })).toBe("CALL_NOT_FOUND");
    expect(await code({ after: UNKNOWN_ID })).toBe("EVENT_NOT_FOUND");
  });
});

test("a whole call looks the same to a webhook, a subscription, the log, REST and GraphQL", async () => {
  const { api } = await running.otherOrganization();
  const receiver = await new Receiver().start();
  const subscriber = new Subscriber(running.url, { ...api.headers });
  try {
    await api.post("/rest/v1/settings", { url: receiver.url, secret: "shared" }, 201);
    const assistantId = await speaker(api, {
      initialMessage: "This is {company}. How can I help?",
      resources: "We are open Monday to Friday, 8 am to 6 pm.\n\nParking is free.",
    });
    const watched: CallEvent[] = [];
    void subscriber.run(WATCH, {}, (data) => watched.push((data as { callEvents: CallEvent }).callEvents));
    await until(async () => {
      await place(api, assistantId, NUMBER.refused);
      return watched.length > 0;
    });
    const metadata = { simulatedCustomer: ["When are you open?", "Is parking free?"] };
    const id = await place(api, assistantId, NUMBER.answers, { variables: { company: "Acme" }, metadata });
    const heard: string[] = [];
    void subscriber.run(
      'subscription ($id: ID!) { chatEvents(chatId: $id, after: "0") { name message { role content } } }',
      { id },
      (data) => {
        const { message } = (data as { chatEvents: { message: { role: string; content: string } | null } })
          .chatEvents;
        if (message) heard.push(`${message.role}: ${message.content}`);
      },
    );
    const call = await ended(api, id);
    const expected = said(call);
    expect(expected).toHaveLength(6);
    const statuses = ["queued", "ringing", "in-progress", "ended"];

    await until(() => watched.some((one) => one.call.id === id && one.status === "ended"));
    expect(watched.filter((one) => one.call.id === id).map(({ status }) => status)).toEqual(statuses);
    await until(() => heard.length === expected.length);
    expect(heard).toEqual(expected);
    expect(await statusesOf(api, id)).toEqual(statuses);

    const log = await api.get(`/rest/v1/assistants/${assistantId}/log/${id}`, 200);
    expect(
      log.messages.items.map(({ role, content }: { role: string; content: string }) => `${role}: ${content}`),
    ).toEqual(expected);
    expect(log.metadata).toMatchObject({
      status: "ended",
      endedReason: call.endedReason,
      messageCount: 6,
      phoneNumber: NUMBER.answers,
    });
    const logs = await api.get(`/rest/v1/assistants/${assistantId}/logs?type=VOICE&search=parking`, 200);
    expect(logs).toMatchObject([{ id, type: "VOICE" }]);

    const events = await eventsOf(api, id);
    const sent = await receiver.until(events.length, ({ headers }) =>
      events.some((event) => event.id === headers["webhook-id"]),
    );
    const bodies = sent.map(
      ({ body }) =>
        body as { event: string; data: { status?: string; messages?: { role: string; content: string }[] } },
    );
    expect(bodies).toEqual(events.map(({ payload }) => payload));
    expect(bodies.filter(({ event }) => event === "status-changed").map(({ data }) => data.status)).toEqual(
      statuses,
    );
    const last = bodies.findLast(({ event }) => event === "status-changed")!.data.messages!;
    expect(last.map(({ role, content }) => `${role === "bot" ? "ASSISTANT" : "USER"}: ${content}`)).toEqual(
      expected,
    );
  } finally {
    await subscriber.close();
    await receiver.stop();
  }
});

test("a simulated call on one server can be hung up by another", async () => {
  const { api, database } = running;
  const id = await place(api, await speaker(api), NUMBER.endless);
  await until(async () => (await callOf(api, id)).status === "in-progress");
  const text = "select organization_id from chats where id = $1";
  const [row] = await database.query<{ organization_id: string }>(text, [id]);
  const other = await startApp(database, { ...FAST, WORKER: "off" });
  try {
    await hangUpCall(other.app.database.scope(row!.organization_id), id);
    expect((await ended(api, id)).endedReason).toBe("manually-canceled");
  } finally {
    await other.stop();
  }
});
