import type { ChatRow } from "../../chats/chats/chats";
import { overruled, setIn } from "../../chats/chats/set-variables";
import { encoded } from "../../platform/database/encoded";
import type { Scope } from "../../platform/database/scope";
import type { JsonObject } from "../../platform/json/json-object";
import { VARIABLE_NAME } from "./workflow-nodes";

/** Of a reply that is an object so many fields become variables of their own. */
const MOST_FIELDS = 100;
const DEEPEST = 30;

/** Sets variables of a chat, which nothing from outside changes afterwards. @returns the chat with them */
export async function setVariables(scope: Scope, chat: ChatRow, values: JsonObject): Promise<ChatRow> {
  const clean = storable(values) as JsonObject; // an object stays one
  return scope.transaction(async (scope) => {
    const [row = chat] = await scope.table("chats").where({ id: chat.id }).forUpdate();
    const setVariables = overruled(setIn(row), clean);
    const variables = overruled(row.variables, setVariables);
    await scope.table("chats").where({ id: chat.id }).update(encoded({ variables, setVariables }));
    return { ...chat, variables, setVariables };
  });
}

/** The variables that a function's reply becomes: NAME, and NAME.FIELD for each field of an object. */
export function variablesOf(name: string, reply: string): JsonObject {
  const value = parsed(reply);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { [name]: value };
  const fields = Object.entries(value as JsonObject).filter(([field]) =>
    VARIABLE_NAME.test(`${name}.${field}`),
  );
  return {
    [name]: value,
    ...Object.fromEntries(
      fields.slice(0, MOST_FIELDS).map(([field, inside]) => [`${name}.${field}`, inside]),
    ),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** What the database takes: no U+0000, no lone surrogates, not too deep. */
function storable(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return cleaned(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > DEEPEST) return null;
  if (Array.isArray(value)) return value.map((item) => storable(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [cleaned(key), storable(item, depth + 1)]),
  );
}

const cleaned = (text: string): string => text.replaceAll("\0", "").toWellFormed();
