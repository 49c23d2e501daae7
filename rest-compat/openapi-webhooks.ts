import type { JsonSchema } from "./json-schema";

/** Versions of the payloads, by the name of the event. */
export type EventVersions = Readonly<Record<string, number>>;

const EXAMPLE = {
  event: "session-start",
  type: "TEXT",
  companionId: "01a204b2-bcd1-7679-9400-7817668461fe",
  data: { startedAt: "2026-11-22T19:19:12.545Z", userId: "user-1" },
};

const header = (name: string, description: string, schema: object, example: string): JsonSchema => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string", ...schema },
  example,
});

const nameHeaders = (versions: EventVersions): JsonSchema[] => [
  header("webhook-event", "Name of the event.", { enum: Object.keys(versions) }, EXAMPLE.event),
  header(
    "webhook-schema",
    "Name of the event and version of its payload.",
    { enum: Object.entries(versions).map(([name, version]) => `${name}/${version}`) },
    `${EXAMPLE.event}/${versions[EXAMPLE.event]}`,
  ),
  {
    ...header(
      "webhook-chat-id",
      "Id of the chat or call; absent if the event belongs to none.",
      {},
      "0192f0c9-11aa-7c02-8d4e-6b7f3a2c5e90",
    ),
    required: false,
  },
];

const SIGNATURE_HEADERS = [
  header(
    "webhook-id",
    "Id of the event, the same in each attempt and replay.",
    {},
    "0192f0c9-11b4-7d1f-9a35-1f0c8e6b2a77",
  ),
  header(
    "webhook-timestamp",
    "Time of the attempt, in seconds since 1970.",
    { pattern: "^\\d+$" },
    "1763845152",
  ),
  header(
    "webhook-signature",
    "Signatures as in Standard Webhooks, separated by spaces.",
    {},
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  ),
  header(
    "x-signature",
    "HMAC-SHA256 of the body, with the secret as key, in lowercase hexadecimal.",
    { pattern: "^[0-9a-f]{64}$" },
    "602776a25e7882b20f084096e63eb9ba38bfbfce40948bb02281d7415fcff581",
  ),
];

const MESSAGES: JsonSchema = {
  type: "array",
  description:
    "The conversation so far, in the events status-changed and conversation-updated. Beyond 1 MiB, its oldest part is left out.",
  items: {
    type: "object",
    required: ["role"],
    properties: {
      role: {
        type: "string",
        enum: ["bot", "user"],
        description: "Who speaks: the assistant or the person.",
      },
      content: {
        type: "string",
        description: "Text of the message; absent in a message of the assistant that calls a function.",
      },
    },
  },
};

const bodyOf = (versions: EventVersions): JsonSchema => ({
  type: "object",
  required: ["event", "type", "companionId", "data"],
  properties: {
    event: { type: "string", enum: Object.keys(versions), description: "Name of the event." },
    type: { type: "string", enum: ["VOICE", "TEXT", "SMS"], description: "Channel of the conversation." },
    companionId: { type: "string", description: "Id of the assistant; `test` in a test event." },
    data: {
      type: "object",
      description: "Depends on the event.",
      properties: { messages: MESSAGES },
    },
  },
});

/** The requests that webhook destinations receive. */
export const webhooksOf = (versions: EventVersions): JsonSchema => ({
  event: {
    post: {
      operationId: "receiveEvent",
      summary: "Receive an event at a webhook destination",
      "x-extension": true,
      description:
        "Sent to each webhook destination, at least once. [Events](/docs/events) shows every payload, [Webhooks](/docs/webhooks) how to verify the signatures.",
      parameters: [...nameHeaders(versions), ...SIGNATURE_HEADERS],
      requestBody: {
        required: true,
        content: { "application/json": { schema: bodyOf(versions), example: EXAMPLE } },
      },
      responses: {
        "2XX": { description: "Received. The content is ignored." },
        "410": { description: "No further events are wanted: the destination is disabled." },
        default: { description: "Not received: the event is sent again later." },
      },
    },
  },
});
