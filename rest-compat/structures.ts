import { isObjectType, parse, type GraphQLSchema, type OperationDefinitionNode } from "graphql";
import type { Components, JsonSchema } from "./json-schema";

/** An object that may have more properties than these. */
const open = (properties: JsonSchema, required: readonly string[]): JsonSchema => ({
  type: "object",
  properties,
  required,
  additionalProperties: true,
});

const FUNCTION_CALL: JsonSchema = {
  ...open(
    {
      id: { type: "string", description: "Id of the call; `toolCallId` of the message with its result." },
      name: { type: "string", description: "Name of the function." },
      arguments: { description: "Arguments, usually an object." },
    },
    ["id", "name", "arguments"],
  ),
  description: "Function call that an assistant makes.",
};

const dateTime = (description: string): JsonSchema => ({ type: "string", format: "date-time", description });

const FAILURE = {
  type: "object",
  properties: {
    at: dateTime("Time of the error."),
    message: { type: "string", description: "What went wrong." },
  },
  required: ["at", "message"],
};

const LOG_METADATA = open(
  {
    status: { type: "string", description: "Status: queued, ringing, in-progress, forwarding or ended." },
    startedAt: dateTime("Start time."),
    endedAt: dateTime("End time; absent while the chat is live."),
    endedReason: { type: "string", description: "Reason for the end; absent while the chat is live." },
    durationSeconds: {
      type: "integer",
      description: "Time from the start to the end, in seconds; until now for a live chat.",
    },
    phoneNumber: {
      type: "string",
      description: "Telephone number of the end user, in E.164 format; absent if there is none.",
    },
    messageCount: { type: "integer", description: "Number of messages of all roles." },
    errors: {
      type: "array",
      items: FAILURE,
      description: "Errors of the conversation, oldest first; absent if there is none.",
    },
  },
  ["status", "startedAt", "durationSeconds", "messageCount"],
);

/** Fields of a message in a log; those that are null are left out. */
const LOG_MESSAGE = "{ id sequence role channel content metadata toolCallId toolCalls createdAt }";

function logMessage(components: Components, schema: GraphQLSchema): JsonSchema {
  const type = schema.getType("Message");
  if (!isObjectType(type)) throw new Error("The schema has no type Message.");
  const { selectionSet } = parse(LOG_MESSAGE).definitions[0] as OperationDefinitionNode;
  const naming = { components: { Message: "LogMessage" }, isOpen: true };
  return components.output(type, selectionSet, naming);
}

/**
 * The structure of a free-form object of a response, by `Type.field`; undefined if it is up to clients. The API document
 * does not show it, so the objects may have more properties.
 */
export function structureOf(
  field: string,
  components: Components,
  schema: GraphQLSchema,
): JsonSchema | undefined {
  switch (field) {
    case "Log.messages":
      return open({ items: { type: "array", items: logMessage(components, schema) } }, ["items"]);
    case "Log.metadata":
      return LOG_METADATA;
    case "Message.toolCalls":
      return { type: "array", items: components.add("FunctionCall", FUNCTION_CALL) };
    default:
      return undefined;
  }
}
