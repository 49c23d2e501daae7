import type { Connection } from "./connection";
import type { Schemas } from "./check";
import { CHANNELS, isFields, Secret, withServers, type Fields } from "./kinds";

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
    return [channel, { ...fields, functions: (fields.functions as Fields[]).map(withSecrets) }] as const;
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

/** A stored function, with its secrets as such. The server ignores a secret that is no text. */
const withSecrets = (item: Fields): Fields =>
  withServers(item, ({ fields, secret }) => {
    const { [secret]: value, ...rest } = fields;
    return typeof value === "string" && value !== "" ? { ...fields, [secret]: new Secret(value) } : rest;
  });

/** A function as it is sent. */
const withPlainSecrets = (item: Fields): Fields =>
  withServers(item, ({ fields, secret }) => {
    const value = fields[secret];
    if (!(value instanceof Secret)) return fields;
    return { ...fields, [secret]: value.isKept ? { stored: true } : value.value };
  });

const NOTE = '"Applied from files"';
const CREATE = `mutation ($input: CreateAssistantInput!, $document: AssistantDraftInput!) {
  record: createAssistantFromDocument(input: $input, document: $document, note: ${NOTE}) { id } }`;
const CHANGE = `mutation ($id: ID!, $input: AssistantDraftInput!, $settings: AssistantSettingsInput, $ifVersion: Int) {
  updateAssistantDocument(assistantId: $id, input: $input, settings: $settings, note: ${NOTE}, ifVersion: $ifVersion) { id } }`;

/** Creates an assistant whose first version is the document. @returns its id. @throws RequestError */
export async function create(
  connection: Connection,
  input: Fields,
  document: AssistantDocument,
): Promise<string> {
  const { record } = await connection.graphql<{ record: { id: string } }>(CREATE, {
    input,
    document: sent(document),
  });
  return record.id;
}

/**
 * Changes the given fields of an assistant in one transaction; all others stay.
 * @param settings what is not part of its document
 * @param ifVersion the version that must be the current one
 * @throws RequestError
 */
export async function change(
  connection: Connection,
  id: string,
  document: AssistantDocument,
  settings: Fields,
  ifVersion: number | undefined,
): Promise<void> {
  await connection.graphql(CHANGE, { id, input: sent(document), settings, ifVersion });
}

const sent = (document: AssistantDocument): Fields =>
  Object.fromEntries(
    Object.entries(document)
      .filter(([, value]) => value !== undefined)
      .map(([part, value]) => [part, withoutSecrets(value)]),
  );

const withoutSecrets = (section: unknown): unknown =>
  isFields(section) && Array.isArray(section.functions)
    ? { ...section, functions: section.functions.map(withPlainSecrets) }
    : section;
