import { VARIABLE_NAME } from "../../assistants/configurations/variable-names";
import type { ChatRow } from "../../chats/chats/chats";
import { mergeVariables, setVariablesOf } from "../../chats/chats/set-variables";
import { encoded } from "../../platform/database/values/encoded";
import type { Scope } from "../../platform/database/scope";
import type { JsonObject } from "../../platform/json/json-object";

/** If a reply is an object, at most this many of its fields become variables. */
const MAX_FIELDS = 100;
const MAX_DEPTH = 30;

/** Sets variables of a chat. Clients cannot change these variables afterwards. @returns the changed chat */
export async function setVariables(scope: Scope, chat: ChatRow, values: JsonObject): Promise<ChatRow> {
  const clean = storable(values) as JsonObject; // objects stay objects
  return scope.transaction(async (scope) => {
    const [row = chat] = await scope.table("chats").where({ id: chat.id }).forUpdate();
    const setVariables = mergeVariables(setVariablesOf(row), clean);
    const variables = mergeVariables(row.variables, setVariables);
    await scope.table("chats").where({ id: chat.id }).update(encoded({ variables, setVariables }));
    return { ...chat, variables, setVariables };
  });
}

/** The variables for a function's reply: NAME, and if it is an object NAME.FIELD for each field. */
export function variablesOf(name: string, reply: string): JsonObject {
  const value = parseReply(reply);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { [name]: value };
  const fields = Object.entries(value as JsonObject).filter(([field]) =>
    VARIABLE_NAME.test(`${name}.${field}`),
  );
  return {
    [name]: value,
    ...Object.fromEntries(fields.slice(0, MAX_FIELDS).map(([field, inside]) => [`${name}.${field}`, inside])),
  };
}

function parseReply(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** A value that PostgreSQL can store: without U+0000 and lone surrogates, at most MAX_DEPTH levels deep. */
function storable(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return cleanText(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((item) => storable(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [cleanText(key), storable(item, depth + 1)]),
  );
}

const cleanText = (text: string): string => text.replaceAll("\0", "").toWellFormed();
