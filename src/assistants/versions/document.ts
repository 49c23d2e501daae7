import { camel, snake } from "../../platform/database/values/names";
import { readStored, storedText } from "../../platform/json/json-source";
import type { JsonObject } from "../../platform/json/json-object";
import { COLUMNS, isOfRag, RAG_SETTINGS, type ConfigurationKind } from "../configurations/columns";
import type { RagSettings } from "../configurations/configurations";
import {
  isSpoken,
  SPOKEN_KINDS,
  withoutSecrets,
  withSecrets,
  type SecretsBySlot,
  type SpokenKind,
} from "../history/function-secrets";

/**
 * An assistant as one JSON value: everything that a version contains, in the form of the input of a draft. A secret of a
 * function is `{"stored":true}`.
 */
export interface Document {
  readonly name: string;
  readonly description: string | null;
  readonly variables: JsonObject | null;
  readonly voice: JsonObject;
  readonly sms: JsonObject;
  readonly chat: JsonObject;
  readonly theme: JsonObject;
  readonly rag: Readonly<Record<SpokenKind, RagSettings>>;
  readonly allowedOrigins: readonly string[];
  readonly fileIds: readonly string[];
}

/** Some parts of a document. */
export type PartialDocument = {
  readonly [Name in keyof Document]?:
    (Document[Name] extends JsonObject ? Readonly<Partial<Document[Name]>> : Document[Name]) | null;
};

/** Values of a document by the columns that they are stored in, such as `chat.max_tokens_output`; functions are text. */
export type DocumentValues = Readonly<Record<string, unknown>>;

const ASSISTANT = ["name", "description", "variables"] as const;
const KINDS = ["voice", "sms", "chat", "theme"] as const satisfies readonly ConfigurationKind[];
const ORIGINS = "theme.allowed_origins";
const FILES = "fileIds";

/** The name of a field's value in `DocumentValues`. */
export const nameOf = (kind: ConfigurationKind, field: string) => `${kind}.${snake(field)}`;

/** Columns of a kind that stand in its own part of a document. */
const ownFields = (kind: ConfigurationKind): readonly string[] =>
  COLUMNS[kind].filter((field) => !isOfRag(field) && field !== "allowedOrigins");

/** The document with these values, in the order of the columns. */
export function documentOf(values: DocumentValues): Document {
  const part = (kind: ConfigurationKind, fields: readonly string[]): JsonObject =>
    Object.fromEntries(
      fields.flatMap((field) => {
        const name = nameOf(kind, field);
        return Object.hasOwn(values, name) ? [[field, shown(name, values[name])]] : [];
      }),
    );
  const rag = Object.fromEntries(SPOKEN_KINDS.map((kind) => [kind, part(kind, RAG_SETTINGS)]));
  return {
    ...Object.fromEntries(ASSISTANT.map((name) => [name, values[name] ?? null])),
    ...Object.fromEntries(KINDS.map((kind) => [kind, part(kind, ownFields(kind))])),
    rag,
    allowedOrigins: values[ORIGINS] ?? [],
    fileIds: values[FILES] ?? [],
  } as unknown as Document; // a version has the values of all columns
}

/** The values of some parts of a document. Null keeps a part as it is, except a description and variables. */
export function valuesOf({ allowedOrigins, fileIds, rag, ...parts }: PartialDocument): DocumentValues {
  const values: Record<string, unknown> = {};
  const set = (name: string, value: unknown) => {
    if (value !== undefined) values[name] = name.endsWith(".functions") ? storedText(value as object) : value;
  };
  for (const name of ASSISTANT) set(name, parts[name]);
  for (const kind of KINDS)
    for (const [field, value] of Object.entries(parts[kind] ?? {})) set(nameOf(kind, field), value);
  for (const kind of SPOKEN_KINDS)
    for (const [field, value] of Object.entries(rag?.[kind] ?? {})) set(nameOf(kind, field), value);
  set(ORIGINS, allowedOrigins ?? undefined);
  set(FILES, fileIds ?? undefined);
  return values;
}

/** The columns of each table whose values these are, ready to be stored; functions have no secrets. */
export function rowsOf(values: DocumentValues): {
  readonly assistant: Readonly<Record<string, unknown>>;
  readonly configurations: readonly (readonly [ConfigurationKind, Readonly<Record<string, unknown>>])[];
} {
  const entries = Object.entries(values).filter(([name]) => name !== FILES);
  const configurations = KINDS.map((kind) => {
    const own = entries.filter(([name]) => name.startsWith(`${kind}.`));
    return [
      kind,
      Object.fromEntries(own.map(([name, value]) => [camel(name.slice(kind.length + 1)), value])),
    ] as const;
  });
  return {
    assistant: Object.fromEntries(entries.filter(([name]) => !name.includes("."))),
    configurations: configurations.filter(([, row]) => Object.keys(row).length > 0),
  };
}

/** The ids of the files in these values; undefined if they say nothing about files. */
export const fileIdsIn = (values: DocumentValues): readonly string[] | undefined =>
  values[FILES] as readonly string[] | undefined;

/** The lists of functions in these values, as text. */
export const functionsIn = (values: DocumentValues): (readonly [SpokenKind, string])[] =>
  SPOKEN_KINDS.flatMap((kind) => {
    const text = values[`${kind}.functions`];
    return typeof text === "string" ? [[kind, text] as const] : [];
  });

/** The values with `{"stored":true}` instead of the secrets of functions. */
export const withoutSecretsIn = (values: DocumentValues): DocumentValues => {
  const kept = functionsIn(values).map(([kind, text]) => [`${kind}.functions`, withoutSecrets(kind, text)]);
  return { ...values, ...(Object.fromEntries(kept) as DocumentValues) };
};

/** The values in which functions ask only for secrets that there are. */
export const withKnownSecrets = (values: DocumentValues, secrets: SecretsBySlot): DocumentValues => {
  const known = functionsIn(values).map(([kind, text]) => {
    return [`${kind}.functions`, withoutSecrets(kind, withSecrets(kind, text, secrets))];
  });
  return { ...values, ...(Object.fromEntries(known) as DocumentValues) };
};

const shown = (name: string, value: unknown): unknown =>
  typeof value === "string" && name.endsWith(".functions") ? readStored(value) : value;

/** The values of stored configurations. */
export const valuesOfConfiguration = (kind: ConfigurationKind, row: object): DocumentValues =>
  Object.fromEntries(
    Object.entries(row)
      .filter(([field]) => COLUMNS[kind].includes(field))
      .map(([field, value]) => [
        nameOf(kind, field),
        field === "functions" && isSpoken(kind) ? storedText(value as object) : value,
      ]),
  );
