import type { DeliveryHeader } from "./delivery-headers";
import { EVENT_CONTRACTS, type EventContract } from "./payloads";

const DESCRIPTION = `Events that Parley sends to webhook destinations, at least once, as signed POST requests. The same payloads are in the GraphQL field \`Event.payload\` and in the subscription \`organizationEvents\`.

A field is removed, or changes its meaning, only with a new version of the payload, which the header \`webhook-schema\` names. New fields can be added at any time: ignore those that you do not know.`;

const schemaOf = (headers: readonly DeliveryHeader[]): object => ({
  type: "object",
  required: headers.filter(({ required }) => required).map(({ name }) => name),
  properties: Object.fromEntries(
    headers.map(({ name, description, schema, example }) => [
      name,
      { ...schema, description, examples: [example] },
    ]),
  ),
});

const messageOf = ({ name, version, description, headers, example }: EventContract): object => ({
  name,
  title: `${name}/${version}`,
  summary: description,
  contentType: "application/json",
  correlationId: { description: "Id of the chat or call.", location: "$message.header#/webhook-chat-id" },
  headers: schemaOf(headers),
  payload: { $ref: `#/components/schemas/${name}` },
  examples: [
    {
      name,
      headers: Object.fromEntries(
        headers.filter(({ required }) => required).map((header) => [header.name, header.example]),
      ),
      payload: example,
    },
  ],
});

const byName = <T>(value: (event: EventContract) => T): Record<string, T> =>
  Object.fromEntries(EVENT_CONTRACTS.map((event) => [event.name, value(event)]));

/** The AsyncAPI 3 document of the events that webhook destinations receive. @param url address of the server */
export const asyncApi = (url: string): object => ({
  asyncapi: "3.0.0",
  info: {
    title: "Parley events",
    version: "1.0",
    description: DESCRIPTION,
    license: { name: "MIT" },
    externalDocs: { url: `${url}/docs/events`, description: "Events, with an example of each" },
  },
  defaultContentType: "application/json",
  channels: {
    destination: {
      address: null,
      title: "Webhook destination",
      description: "A URL of the customer. It gets the events that it has chosen.",
      messages: byName(({ name }) => ({ $ref: `#/components/messages/${name}` })),
    },
  },
  operations: {
    deliver: {
      action: "send",
      title: "Deliver an event",
      summary: "Sends an event to a webhook destination. Any status 2xx within 15 seconds accepts it.",
      channel: { $ref: "#/channels/destination" },
      bindings: { http: { method: "POST", bindingVersion: "0.3.0" } },
    },
  },
  components: {
    messages: byName(messageOf),
    schemas: byName(({ schema }) => schema),
  },
});
