import { objectsIn } from "../import/source";
import { picked, recordsOf, storeAll, type FolderImport } from "./import-work";

const NODE =
  "id type name assistantId instructions functionName arguments resultVariable message endReason metadata createdAt updatedAt";
const EDGE =
  "id fromNodeId toNodeId kind rank description collects variable operator value functionName createdAt updatedAt";

/** Imports the workflows. @param assistants ids of those that the folder has */
export async function importWorkflows(work: FolderImport, assistants: ReadonlySet<string>): Promise<void> {
  const named: unknown[] = [];
  for await (const { nodes } of recordsOf(work, "workflows"))
    named.push(...objectsIn(nodes).map(({ assistantId }) => assistantId));
  const gone = await goneOf(work, named, assistants);
  await storeAll(
    work,
    {
      ...{ part: "workflows", noun: "workflow", mutation: "importWorkflow", input: "ImportWorkflowInput" },
      stored: "{ records: workflows { id updatedAt } }",
    },
    (record) => ({
      ...picked(record, "id key name description projectId createdAt updatedAt"),
      nodes: objectsIn(record.nodes).map((node) => {
        if (!gone.has(node.assistantId)) return picked(node, NODE);
        work.report.note(
          `The node "${String(node.name)}" names an assistant that is deleted or not in the folder: it was imported without one.`,
          String(record.id),
        );
        return { ...picked(node, NODE), assistantId: null };
      }),
      edges: objectsIn(record.edges).map((edge) => picked(edge, EDGE)),
    }),
  );
}

/**
 * Imports the deployments. Connected numbers are no part of a folder: a deployment finds the one of the target by its number.
 * @param assistants ids of those that the folder has
 */
export async function importDeployments(work: FolderImport, assistants: ReadonlySet<string>): Promise<void> {
  const numbers = await numbersHere(work);
  const named: unknown[] = [];
  for await (const { assistantId } of recordsOf(work, "deployments")) named.push(assistantId);
  const gone = await goneOf(work, named, assistants);
  const stored = "{ records: deployments { id updatedAt } }";
  const kind = { part: "deployments", noun: "deployment", stored } as const;
  const mutation = { mutation: "importDeployment", input: "ImportDeploymentInput" };
  await storeAll(work, { ...kind, ...mutation }, (record) => {
    const note = (sentence: string) => work.report.note(sentence, String(record.id));
    if (gone.has(record.assistantId)) {
      note("The assistant of this deployment is deleted or not in the folder, so it was left out.");
      return undefined;
    }
    if (record.telephonyConnectionId != null && !numbers.has(record.telephonyConnectionId))
      note("The phone number of this deployment is not in the folder.");
    const telephonyConnectionId = numbers.get(record.telephonyConnectionId);
    return {
      ...picked(
        record,
        "id key type enabled projectId assistantId assistantVersion workflowId createdAt updatedAt",
      ),
      ...(telephonyConnectionId !== undefined && { telephonyConnectionId }),
    };
  });
}

/** Ids of the numbers that are connected here, by those of the folder; undefined for others. */
async function numbersHere(work: FolderImport): Promise<Map<unknown, unknown>> {
  const { target, report } = work;
  const here = objectsIn((await target.run("{ records: telephonyConnections { id phoneNumber } }")).records);
  const numbers = new Map<unknown, unknown>();
  for await (const { id, phoneNumber } of recordsOf(work, "telephony connections")) {
    const own = here.find((one) => one.phoneNumber === phoneNumber);
    numbers.set(id, own?.id);
    if (!own)
      report.note(
        "This phone number is not connected here: connect it, then import again.",
        String(phoneNumber),
      );
  }
  return numbers;
}

/** Ids that a request may name. */
const MOST_IDS = 100;

/** Those of the named assistants that are neither in the folder nor here. */
async function goneOf(
  { target }: FolderImport,
  named: readonly unknown[],
  assistants: ReadonlySet<string>,
): Promise<Set<unknown>> {
  const gone = new Set(named.filter((id) => typeof id === "string").filter((id) => !assistants.has(id)));
  const ids = [...gone];
  for (let from = 0; from < ids.length; from += MOST_IDS)
    for (const { id } of await target.nodes(ids.slice(from, from + MOST_IDS), "... on Assistant { id }"))
      gone.delete(id as string);
  return gone;
}
