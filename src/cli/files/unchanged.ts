import { equal } from "./changes";
import { readDeployment } from "./deployments";
import { WITHOUT_KEY, type Reading, type Remote, type RemoteRecord } from "./remote";
import { readWebhook } from "./webhooks";
import { readWorkflow } from "./workflows";

interface Now {
  readonly assistant: {
    readonly version: { readonly number: number };
    readonly project: { readonly name: string } | null;
    readonly missingVariables?: string;
  };
}

/** Whether the server still has a record as it was read: of an assistant, its version and settings. @throws RequestError also if it is gone */
export async function isUnchanged(reading: Reading, remote: Remote, record: RemoteRecord): Promise<boolean> {
  const { kind, id } = record;
  if (kind === "assistant") {
    // An older server lacks the setting.
    const setting = "missingVariables" in record.fields ? "missingVariables" : "";
    const query = `query ($id: ID!) { assistant(id: $id) { version { number } project { name } ${setting} } }`;
    const { version, project, missingVariables } = (await reading.connection.graphql<Now>(query, { id }))
      .assistant;
    const now = [version.number, project?.name ?? null, missingVariables];
    return equal(now, [record.version, record.fields.project, record.fields.missingVariables]);
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
