import { equal } from "./changes";
import { readDeployments } from "./deployments";
import { WITHOUT_KEY, type Reading, type Remote, type RemoteRecord } from "./remote";
import { readWebhooks } from "./webhooks";
import { readWorkflows } from "./workflows";

const VERSION = "query ($id: ID!) { assistant(id: $id) { version { number } } }";

/** Whether the server still has a record as it was read: of an assistant, its version. @throws RequestError */
export async function isUnchanged(reading: Reading, remote: Remote, record: RemoteRecord): Promise<boolean> {
  const { kind, id } = record;
  if (kind === "assistant") {
    const { assistant } = await reading.connection.graphql<{ assistant: { version: { number: number } } }>(
      VERSION,
      { id },
    );
    return assistant.version.number === record.version;
  }
  const keys = new Map(remote.records.map((one) => [one.id, one.key ?? WITHOUT_KEY]));
  const projects = [...remote.names.projects].flatMap(([name, ids]) => ids.map((id) => ({ id, name })));
  const readers = {
    webhook: () => readWebhooks(reading, projects),
    workflow: () => readWorkflows(reading, keys),
    deployment: () => readDeployments(reading, keys),
  };
  const now = (await readers[kind]()).find((one) => one.id === id);
  return now !== undefined && equal(now.fields, record.fields);
}
