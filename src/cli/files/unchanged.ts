import { equal } from "./changes";
import { readDeployment } from "./deployments";
import { WITHOUT_KEY, type Reading, type Remote, type RemoteRecord } from "./remote";
import { readWebhook } from "./webhooks";
import { readWorkflow } from "./workflows";

const VERSION = "query ($id: ID!) { assistant(id: $id) { version { number } } }";

/** Whether the server still has a record as it was read: of an assistant, its version. @throws RequestError also if it is gone */
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
  const readers = {
    webhook: () => readWebhook(reading, id),
    workflow: () => readWorkflow(reading, id, keys),
    deployment: () => readDeployment(reading, id, keys),
  };
  const now = await readers[kind]();
  return equal(now.fields, record.fields);
}
