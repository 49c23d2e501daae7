import type { Connection } from "./connection";
import type { Fields } from "./kinds";
import type { Reading, RemoteRecord } from "./remote";

interface Row {
  readonly id: string;
  readonly key: string | null;
  readonly type: string;
  readonly enabled: boolean;
  readonly assistant: { readonly id: string } | null;
  readonly assistantVersion: number | null;
  readonly workflow: { readonly id: string } | null;
  readonly telephonyConnection: { readonly phoneNumber: string } | null;
  readonly project: { readonly name: string } | null;
}

const FIELDS =
  "id key type enabled assistant { id } assistantVersion workflow { id } telephonyConnection { phoneNumber } project { name }";
const LIST = `{ deployments { ${FIELDS} } }`;
const ONE = `query ($id: ID!) { deployment(id: $id) { ${FIELDS} } }`;
const CREATE = "mutation ($input: CreateDeploymentInput!) { record: createDeployment(input: $input) { id } }";
const UPDATE =
  "mutation ($id: ID!, $input: UpdateDeploymentInput!) { updateDeployment(id: $id, input: $input) { id } }";

/** Reads all deployments, oldest first. @param keys of live assistants and workflows by their ids */
export async function readDeployments(
  { connection }: Reading,
  keys: ReadonlyMap<string, string>,
): Promise<RemoteRecord[]> {
  const { deployments } = await connection.graphql<{ deployments: readonly Row[] }>(LIST);
  return [...deployments].reverse().map((row) => recordOf(row, keys));
}

/** Reads one deployment. @throws RequestError */
export async function readDeployment(
  { connection }: Reading,
  id: string,
  keys: ReadonlyMap<string, string>,
): Promise<RemoteRecord> {
  const { deployment } = await connection.graphql<{ deployment: Row }>(ONE, { id });
  return recordOf(deployment, keys);
}

function recordOf(row: Row, keys: ReadonlyMap<string, string>): RemoteRecord {
  const { id, key, type, enabled, assistantVersion, telephonyConnection, project } = row;
  const assistant = keys.get(row.assistant?.id ?? "") ?? null;
  const workflow = keys.get(row.workflow?.id ?? "") ?? null;
  const number = telephonyConnection?.phoneNumber ?? null;
  return {
    kind: "deployment",
    id,
    key,
    label: `${type} ${assistant ?? workflow ?? ""}`,
    fields: {
      ...{ key, type, enabled, assistant, assistantVersion, workflow, number },
      project: project?.name ?? null,
    },
  };
}

/** @returns the id. @throws RequestError */
export async function createDeployment(connection: Connection, fields: Fields): Promise<string> {
  const { record } = await connection.graphql<{ record: { id: string } }>(CREATE, { input: fields });
  return record.id;
}

/** @throws RequestError */
export async function updateDeployment(connection: Connection, id: string, changed: Fields): Promise<void> {
  await connection.graphql(UPDATE, { id, input: changed });
}
