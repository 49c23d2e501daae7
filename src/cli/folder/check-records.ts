import { isObject } from "../import/source";
import type { Line, Part } from "./format";

const isText = (value: unknown): boolean => typeof value === "string";
const isId = (value: unknown): boolean => isText(value) && value !== "";
const isListOf = (is: (entry: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every(is);

const FORMS = {
  "a text": isText,
  "a text that is not empty": isId,
  "a whole number from 1": (value: unknown) => Number.isSafeInteger(value) && Number(value) > 0,
  "an object": isObject,
  "an object with a document": (value: unknown) => isObject(value) && isObject(value.document),
  "a list of objects": isListOf(isObject),
  "a list of texts": isListOf(isText),
  "a list of facts with an assistantId": isListOf((fact) => isObject(fact) && isId(fact.assistantId)),
} as const;
type Form = keyof typeof FORMS;

const ID = { id: "a text that is not empty" } as const;
/** Fields that the import reads, or on which the rights of a key depend. The server checks all others. */
const NEEDED: Readonly<Record<Part, Readonly<Record<string, Form>>>> = {
  organization: { ...ID, name: "a text" },
  "telephony connections": { ...ID, phoneNumber: "a text" },
  deployments: ID,
  workflows: { ...ID, nodes: "a list of objects", edges: "a list of objects" },
  assistants: { ...ID, voice: "an object", sms: "an object", chat: "an object", theme: "an object" },
  versions: {
    assistantId: "a text that is not empty",
    number: "a whole number from 1",
    document: "an object",
  },
  projects: ID,
  "webhook destinations": ID,
  "API keys": { ...ID, value: "a text that is not empty" },
  files: { ...ID, name: "a text", mimeType: "a text" },
  logs: {
    ...{ ...ID, assistantId: "a text that is not empty", assistantName: "a text", status: "a text" },
    ...{ messages: "a list of objects", metadata: "an object", customerMetadata: "an object" },
  },
  "end users": { uniqueId: "a text that is not empty", facts: "a list of facts with an assistantId" },
};
/** Fields that may be null or missing. */
const OPTIONAL: Readonly<Partial<Record<Part, Readonly<Record<string, Form>>>>> = {
  organization: {
    ...{ retention: "an object", modelMappings: "a list of objects", modelCredentials: "a list of objects" },
  },
  assistants: {
    ...{ files: "a list of objects", toolServers: "a list of objects" },
    ...{ version: "an object", draft: "an object with a document" },
  },
  "API keys": { permissions: "a list of texts", assistantIds: "a list of texts", expiresAt: "a text" },
  logs: { call: "an object", "metadata.errors": "a list of objects" },
};

const valueAt = (line: Line, path: string): unknown =>
  path.split(".").reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), line);

/** Fields of a record that have another form than an export writes, such as "id must be a text". */
export function problemsOfRecord(part: Part, line: Line): string[] {
  const optional = Object.entries(OPTIONAL[part] ?? {}).filter(([path]) => valueAt(line, path) != null);
  return [...Object.entries(NEEDED[part]), ...optional].flatMap(([path, form]) =>
    FORMS[form](valueAt(line, path)) ? [] : [`${path} must be ${form}.`],
  );
}
