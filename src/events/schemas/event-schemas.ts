import type { EventName } from "../../platform/database/tables/event-names";
import type { ObjectSchema } from "./schema-type";

/** An event: when it happens, the schema of its `data`, and a payload without its name. */
interface EventDefinition {
  /** In Markdown. */
  readonly description: string;
  /** Changes other than new optional fields need a new version in `EVENT_VERSIONS`. */
  readonly data: ObjectSchema;
  readonly example: {
    readonly type: "VOICE" | "TEXT" | "SMS";
    readonly companionId: string;
    readonly data: Readonly<Record<string, unknown>>;
  };
}

const time = <const D extends string>(description: D) =>
  ({ type: "string", format: "date-time", description }) as const;

const PHONE_NUMBER = {
  type: "string",
  description: "Telephone number of the person, in events of calls and SMS chats, in E.164 format.",
} as const;

const MESSAGES = {
  type: "array",
  description: "The conversation so far, oldest message first. Beyond 1 MiB, its oldest part is left out.",
  items: {
    type: "object",
    title: "EventMessage",
    description: "Message of the conversation.",
    required: ["role"],
    properties: {
      role: {
        type: "string",
        enum: ["bot", "user"],
        description: "Author: `bot` for the assistant, `user` for the person.",
      },
      content: {
        type: "string",
        description: "Text; absent in a message of the assistant that calls a function.",
      },
    },
  },
} as const;

const COMPANION = "01a204b2-bcd1-7679-9400-7817668461fe";
const STARTED_AT = "2026-11-22T19:19:12.545Z";

/**
 * All events with the schema of their `data`. Types, the check of recorded events, the AsyncAPI and OpenAPI documents and
 * docs/events.md derive from it. The keywords mean the same in JSON Schema 2020-12 and in AsyncAPI's schemas.
 */
export const EVENT_SCHEMAS = {
  "session-start": {
    description: "A conversation begins.",
    data: {
      type: "object",
      required: ["startedAt"],
      properties: {
        startedAt: time("Start of the conversation."),
        userId: { type: "string", description: "The client's id of the person, if it has passed one." },
        phoneNumber: PHONE_NUMBER,
      },
    },
    example: {
      type: "TEXT",
      companionId: COMPANION,
      data: { startedAt: STARTED_AT, userId: "user-1" },
    },
  },
  "status-changed": {
    description: "The status of a chat or call changes.",
    data: {
      type: "object",
      required: ["messages", "startedAt"],
      properties: {
        messages: MESSAGES,
        status: {
          type: "string",
          enum: ["queued", "ringing", "in-progress", "forwarding", "ended"],
          description: "The new status.",
        },
        startedAt: time("Start of the conversation."),
        endedAt: time("End of the conversation, once the status is `ended`."),
        endedReason: {
          type: "string",
          description: "Reason for the end, once the status is `ended`, such as `ended-by-api`.",
        },
        phoneNumber: PHONE_NUMBER,
      },
    },
    example: {
      type: "TEXT",
      companionId: COMPANION,
      data: { messages: [], status: "in-progress", startedAt: STARTED_AT },
    },
  },
  "conversation-updated": {
    description:
      "A message is stored. Before its answer in this example, the assistant has called a function in a message without `content`.",
    data: {
      type: "object",
      required: ["messages", "timestamp"],
      properties: { messages: MESSAGES, phoneNumber: PHONE_NUMBER, timestamp: time("Time of the event.") },
    },
    example: {
      type: "TEXT",
      companionId: COMPANION,
      data: {
        messages: [
          { role: "bot", content: "Hello! How can I help you today?" },
          { role: "user", content: "Where is my order 7?" },
          { role: "bot" },
          { role: "bot", content: "It arrives tomorrow." },
        ],
        timestamp: "2026-11-22T19:19:13.088Z",
      },
    },
  },
  "interaction-status": {
    description: "The assistant begins to listen, to think or to speak.",
    data: {
      type: "object",
      required: ["status", "timestamp"],
      properties: {
        status: {
          type: "string",
          enum: ["listening", "thinking", "speaking"],
          description: "Activity of the assistant.",
        },
        timestamp: time("Time of the event."),
      },
    },
    example: {
      type: "TEXT",
      companionId: COMPANION,
      data: { status: "thinking", timestamp: "2026-11-22T19:19:13.352Z" },
    },
  },
  "function-call": {
    description: "The assistant calls a function.",
    data: {
      type: "object",
      required: ["name"],
      properties: {
        name: { type: "string", description: "Name of the function." },
        parameters: { type: "object", description: "Arguments of the call, by name." },
      },
    },
    example: {
      type: "TEXT",
      companionId: COMPANION,
      data: { name: "find_order", parameters: { number: "7" } },
    },
  },
  "session-end": {
    description: "A conversation has ended.",
    data: {
      type: "object",
      required: ["startedAt", "endedAt", "endedReason", "messageCount"],
      properties: {
        startedAt: time("Start of the conversation."),
        endedAt: time("End of the conversation."),
        endedReason: { type: "string", description: "Reason for the end, such as `ended-by-api`." },
        messageCount: { type: "integer", minimum: 0, description: "Number of messages of all roles." },
      },
    },
    example: {
      type: "TEXT",
      companionId: COMPANION,
      data: {
        startedAt: STARTED_AT,
        endedAt: "2026-11-22T19:19:16.257Z",
        endedReason: "ended-by-api",
        messageCount: 7,
      },
    },
  },
  "call-recording": {
    description: "The recording of a call is available.",
    data: {
      type: "object",
      required: ["recordingUrl", "timestamp"],
      properties: {
        recordingUrl: { type: "string", description: "Address of the recording." },
        timestamp: time("Time of the event."),
      },
    },
    example: {
      type: "VOICE",
      companionId: COMPANION,
      data: {
        recordingUrl: "https://parley.example.com/recordings/01a204b2-cd1c-74d7-a225-6548e28d7e92",
        timestamp: "2026-11-22T19:19:40.120Z",
      },
    },
  },
} as const satisfies Readonly<Record<EventName, EventDefinition>>;
