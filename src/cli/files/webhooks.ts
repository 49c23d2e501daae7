import type { Connection } from "./connection";
import { Secret, type Fields } from "./kinds";
import type { Reading, RemoteRecord } from "./remote";

interface Row {
  readonly id: string;
  readonly key: string | null;
  readonly name: string | null;
  readonly url: string;
  readonly events: readonly string[] | null;
}

const LIST =
  "query ($projectId: ID) { webhookDestinations(projectId: $projectId) { id key name url events } }";
const ONE = "query ($id: ID!) { webhookDestination(id: $id) { id key name url events project { name } } }";
const SECRET = "query ($id: ID!) { webhookDestination(id: $id) { secret } }";
const CREATE =
  "mutation ($input: CreateWebhookDestinationInput!) { record: createWebhookDestination(input: $input) { id } }";
const UPDATE =
  "mutation ($id: ID!, $input: UpdateWebhookDestinationInput!) { updateWebhookDestination(id: $id, input: $input) { id } }";

/** Reads the webhook destinations of the organization and its projects, oldest first, without their secrets. */
export async function readWebhooks(
  { connection }: Reading,
  projects: readonly { readonly id: string; readonly name: string }[],
): Promise<RemoteRecord[]> {
  const records: RemoteRecord[] = [];
  for (const project of [{ id: null, name: null }, ...projects]) {
    const { webhookDestinations } = await connection.graphql<{ webhookDestinations: readonly Row[] }>(LIST, {
      projectId: project.id,
    });
    for (const row of [...webhookDestinations].reverse()) records.push(recordOf(row, project.name));
  }
  return records;
}

/** Reads one webhook destination, without its secret. @throws RequestError */
export async function readWebhook({ connection }: Reading, id: string): Promise<RemoteRecord> {
  type OneRow = Row & { readonly project: { readonly name: string } | null };
  const { webhookDestination } = await connection.graphql<{ webhookDestination: OneRow }>(ONE, { id });
  return recordOf(webhookDestination, webhookDestination.project?.name ?? null);
}

const recordOf = ({ id, key, name, url, events }: Row, project: string | null): RemoteRecord => ({
  kind: "webhook",
  id,
  key,
  label: name ?? new URL(url).hostname,
  fields: { key, name, url, secret: new Secret(undefined), events, project },
});

/** The stored secret of a destination. The audit log records that it was read. @throws RequestError */
export async function secretOf(connection: Connection, id: string): Promise<string> {
  const { webhookDestination } = await connection.graphql<{ webhookDestination: { secret: string } }>(
    SECRET,
    { id },
  );
  return webhookDestination.secret;
}

/** @returns the id. @throws RequestError */
export async function createWebhook(connection: Connection, fields: Fields): Promise<string> {
  const { record } = await connection.graphql<{ record: { id: string } }>(CREATE, { input: sent(fields) });
  return record.id;
}

/** @throws RequestError */
export async function updateWebhook(connection: Connection, id: string, changed: Fields): Promise<void> {
  await connection.graphql(UPDATE, { id, input: sent(changed) });
}

const sent = ({ secret, ...fields }: Fields): Fields => ({
  ...fields,
  ...(secret instanceof Secret && { secret: secret.value }),
});
