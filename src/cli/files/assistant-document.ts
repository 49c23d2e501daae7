import type { Connection } from "./connection";
import type { Schemas } from "./check";
import { CHANNELS, isFields, Secret, serverOf, withServer, type Fields } from "./kinds";

/**
 * The published part of an assistant: the fields of its file, without its key, its project and `missingVariables`; its files
 * as `fileIds`.
 */
export type AssistantDocument = Fields;

type Properties = Readonly<Record<string, { readonly properties?: Properties }>>;

/** The fields of the server's assistants, by the schema of their files. */
const propertiesOf = (schemas: Schemas): Properties =>
  (schemas.assistant as { readonly properties: Properties }).properties;

const namesOf = (properties: Properties, name: string): readonly string[] =>
  Object.keys(properties[name]?.properties ?? {});

/** The selection of an assistant that `documentOf` reads. */
export function selectionOf(schemas: Schemas): string {
  const properties = propertiesOf(schemas);
  const rag = properties.rag?.properties ?? {};
  const channels = CHANNELS.map(
    (channel) => `${channel} { ${[...namesOf(properties, channel), ...namesOf(rag, channel)].join(" ")} }`,
  );
  return `name description variables ${channels.join(" ")} theme { allowedOrigins ${namesOf(properties, "theme").join(" ")} }`;
}

type Row = Readonly<Record<string, Fields>> & {
  readonly theme: Fields & { readonly allowedOrigins: unknown };
};

/** The document of an assistant that was read with `selectionOf`. */
export function documentOf(row: Fields, schemas: Schemas): AssistantDocument {
  const properties = propertiesOf(schemas);
  const rag = properties.rag?.properties ?? {};
  const { name, description, variables } = row;
  const { theme, ...rest } = row as Row;
  const { allowedOrigins, ...look } = theme;
  const picked = (channel: string, names: readonly string[]) =>
    Object.fromEntries(names.map((field) => [field, rest[channel]![field]]));
  const channels = CHANNELS.map((channel) => {
    const fields = picked(channel, namesOf(properties, channel));
    return [channel, { ...fields, functions: (fields.functions as Fields[]).map(withSecret) }] as const;
  });
  return {
    name,
    description,
    variables,
    ...Object.fromEntries<Fields>(channels),
    theme: look,
    rag: Object.fromEntries(CHANNELS.map((channel) => [channel, picked(channel, namesOf(rag, channel))])),
    allowedOrigins,
  };
}

/** A stored function, with its secret as one. */
function withSecret(item: Fields): Fields {
  const { server, secret } = serverOf(item);
  const value = server[secret];
  return typeof value === "string" && value !== "" ? withServer(item, { [secret]: new Secret(value) }) : item;
}

/** A function as it is sent. */
function withoutSecret(item: Fields): Fields {
  const { server, secret } = serverOf(item);
  const value = server[secret];
  return value instanceof Secret ? withServer(item, { [secret]: value.value }) : item;
}

const CHANGE = `mutation ($id: ID!, $input: AssistantDraftInput!) {
  updateAssistantDocument(assistantId: $id, input: $input, note: "Applied from files") { id } }`;

/** Changes the given fields of a document in one transaction; all others stay. @throws RequestError */
export async function publish(
  connection: Connection,
  id: string,
  document: AssistantDocument,
): Promise<void> {
  const parts = Object.entries(document).filter(([, value]) => value !== undefined);
  if (parts.length === 0) return;
  const input = Object.fromEntries(parts.map(([part, value]) => [part, withoutSecrets(value)]));
  await connection.graphql(CHANGE, { id, input });
}

const withoutSecrets = (section: unknown): unknown =>
  isFields(section) && Array.isArray(section.functions)
    ? { ...section, functions: section.functions.map(withoutSecret) }
    : section;
