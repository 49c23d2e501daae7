import { request } from "undici";
import type { LoadGenerator, Running } from "./processes";
import type { Table } from "./table";

/** Shared by all parts of the benchmark. */
export interface Bench {
  /** The service, with its jobs. */
  readonly ours: Running;
  readonly databaseUrl: string;
  /** Those of the service, for other servers on its database. */
  readonly encryptionKeys: () => string;
  readonly table: Table;
  readonly load: LoadGenerator;
  /** Assistants of the default organization. */
  readonly ids: readonly string[];
  /** Starts another server on the same database: by default the one of the package. */
  readonly serve: (env?: Readonly<Record<string, string>>, program?: string[]) => Promise<Running>;
}

export const SECRET_KEY = "secret-key-of-the-benchmark";
export const HEADERS = { "X-API-Key": SECRET_KEY };

export const percentile = (numbers: readonly number[], part: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * part))]!;

/**
 * Sends JSON.
 * @returns the answer
 * @throws Error for a status other than 2xx. Avoids `fetch`, which takes a millisecond.
 */
export async function send<T>(url: string, body: unknown): Promise<T> {
  const headers = { ...HEADERS, "Content-Type": "application/json" };
  const answer = await request(url, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`POST ${url}: ${answer.statusCode} ${text}`);
  return JSON.parse(text) as T;
}

export async function remove(url: string): Promise<void> {
  const { statusCode } = await request(url, { method: "DELETE", headers: HEADERS });
  if (statusCode >= 300) throw new Error(`DELETE ${url}: ${statusCode}`);
}

/** The data of a GraphQL operation. */
export async function gql<T>(origin: string, query: string, variables: object = {}): Promise<T> {
  const { data, errors } = await send<{ data: T; errors?: unknown }>(`${origin}/graphql`, {
    query,
    variables,
  });
  if (errors) throw new Error(JSON.stringify(errors));
  return data;
}

/** Starts a chat. @returns its id */
export async function newChat(url: string, assistantId: string): Promise<string> {
  const { startChat } = await gql<{ startChat: { id: string } }>(
    url,
    `mutation ($input: StartChatInput!) { startChat(input: $input) { id } }`,
    { input: { assistantId, channel: "TEXT" } },
  );
  return startChat.id;
}
