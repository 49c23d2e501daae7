/** Kinds of records that files describe, each with its folder and its noun, in the order in which they refer to each other. */
export const KINDS = {
  assistant: { folder: "assistants", noun: "assistant" },
  webhook: { folder: "webhooks", noun: "webhook destination" },
  workflow: { folder: "workflows", noun: "workflow" },
  deployment: { folder: "deployments", noun: "deployment" },
} as const;
export type Kind = keyof typeof KINDS;
export const KIND_NAMES = Object.keys(KINDS) as readonly Kind[];

/** Whether a name is that of a file with a record, which no command may overlook: its record would seem deleted. */
export const isRecord = (name: string): boolean => /\.ya?ml$/.test(name) && !name.startsWith(".");

/** The channels with a configuration of their own. */
export const CHANNELS = ["voice", "sms", "chat"] as const;

/** Values of fields, as GraphQL and YAML have them. */
export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Secret) &&
  !(value instanceof Expanded);

/** A secret that a file names by an environment variable, or that the server stores. */
export class Secret {
  constructor(
    /** Undefined if the variable is not set. */
    readonly value: string | undefined,
    /** The variable of a file. */
    readonly variable?: string,
    /** Whether the server keeps the secret that it stores at the time of the change. */
    readonly isKept = false,
  ) {}
}

/** A text whose file names environment variables. Their values may be secret, so no output has them. */
export class Expanded {
  constructor(
    readonly value: string,
    /** As the file has it. */
    readonly form: string,
    /** Values of the variables, by their names. */
    readonly variables: Readonly<Record<string, string>>,
  ) {}

  /** The value, for requests. */
  toJSON(): string {
    return this.value;
  }
}

/** A value as the server has it. */
export const sentValue = (value: unknown): unknown => (value instanceof Expanded ? value.value : value);

/** A file that an assistant answers from. */
export interface KnowledgeFile {
  readonly name: string;
  /** SHA-256 of the content, in hexadecimal digits. */
  readonly digest: string;
  readonly content: () => Promise<Uint8Array<ArrayBuffer>>;
}

/** A text of a field that the schema or GraphQL declares as one. */
export const textOf = (value: unknown): string => value as string;

/** A part of an assistant's function that may have the URL of its server and a secret for it. */
export interface FunctionServer {
  /** From the function. */
  readonly path: readonly string[];
  /** Name of the field with the URL. */
  readonly url: string;
  /** Name of the field with the secret. */
  readonly secret: string;
  readonly fields: Fields;
}

/** The function itself, and its field `server`. Each form uses one of them, but secrets may be in both. */
export function serversOf(item: Fields): FunctionServer[] {
  const own = { path: [], url: "serverUrl", secret: "secretKey", fields: item };
  return isFields(item.server)
    ? [own, { path: ["server"], url: "url", secret: "secret", fields: item.server }]
    : [own];
}

/** The function with other fields of its servers. */
export function withServers(item: Fields, change: (server: FunctionServer) => Fields): Fields {
  const [own, nested] = serversOf(item).map(change);
  return { ...own, ...(nested && { server: nested }) };
}

/** The name of an assistant's function, in either form. */
export function nameOfFunction(item: Fields): string {
  const { name } = isFields(item.function) ? item.function : item;
  return typeof name === "string" ? name : "";
}
