import { describe, expect, test } from "@jest/globals";
import { EVENT_CONTRACTS } from "../../src/events/schemas/payloads";
import type { Schema } from "../../src/events/schemas/schema-type";
import { useApp } from "../support/app";

const running = useApp();

const typeNameOf = (event: string) =>
  `${event.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())}Data`;
const fieldsOf = ({ properties }: Schema): string =>
  Object.entries(properties!)
    .map(([name, schema]) => (schema.items ? `${name} { ${fieldsOf(schema.items)} }` : name))
    .join(" ");
const FRAGMENTS = EVENT_CONTRACTS.map(
  ({ name, schema }) => `... on ${typeNameOf(name)} { ${fieldsOf(schema.properties.data!)} }`,
).join(" ");

/** Leaves out the fields that are null. */
const given = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, field: unknown) => field ?? undefined));

describe("Event.data", () => {
  test("has the typed content of each event, as its payload has it", async () => {
    const events = EVENT_CONTRACTS.map(({ name }) => name);
    const { id } = await running.api.post(
      "/rest/v1/settings",
      { url: "https://example.com/events", secret: "shared", events },
      201,
    );
    const { sendSampleEvents: deliveries } = await running.api.gql(
      `mutation ($id: ID!) {
        sendSampleEvents(id: $id) { event { name payload data { __typename ${FRAGMENTS} } } }
      }`,
      { id },
    );
    const seen = deliveries.map((delivery: { event: unknown }) => given(delivery.event));
    expect(seen).toHaveLength(EVENT_CONTRACTS.length);
    for (const [index, { name, example }] of EVENT_CONTRACTS.entries()) {
      const { payload, data } = seen[index];
      expect(seen[index].name).toBe(name);
      expect(data).toEqual({ __typename: typeNameOf(name), ...payload.data });
      expect(Object.keys(data)).toEqual(expect.arrayContaining(Object.keys(example.data)));
    }
  });

  test("is the same in the list of events of a conversation", async () => {
    const { id: assistantId } = await running.api.post("/rest/v1/assistants", { name: "Ada" }, 200);
    const { startChat: chat } = await running.api.gql(
      `mutation ($input: StartChatInput!) { startChat(input: $input) { id } }`,
      { input: { assistantId, userId: "user-1" } },
    );
    await running.api.gql(`mutation ($id: ID!) { endChat(id: $id) { id } }`, { id: chat.id });
    const { events } = await running.api.gql(
      `query ($filter: EventFilter) { events(filter: $filter) { nodes { name payload data { __typename ${FRAGMENTS} } } } }`,
      { filter: { chatId: chat.id } },
    );
    const names = events.nodes.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(["session-start", "status-changed", "session-end"]));
    for (const { name, payload, data } of events.nodes)
      expect(given(data)).toEqual({ __typename: typeNameOf(name), ...payload.data });
  });
});
