import { isDeepStrictEqual } from "node:util";
import { objectsIn } from "../import/source";
import { mayImport, NO_IMPORTER } from "../import/work";
import type { JsonObject } from "../../platform/json/json-object";
import { withoutNulls } from "../../platform/database/values/without-nulls";
import type { Line } from "./format";
import { objectIn, picked, recordsOf, storeAll, type FolderImport } from "./import-work";

export const importProjects = (work: FolderImport): Promise<void> =>
  storeAll(
    work,
    {
      ...{ part: "projects", noun: "project", mutation: "importProject", input: "ImportProjectInput" },
      stored: "{ records: projects { id updatedAt } }",
    },
    (record) => picked(record, "id name description createdAt updatedAt"),
  );

export async function importDestinations(work: FolderImport): Promise<void> {
  const stored = `{ records: webhookDestinations { id updatedAt } projects { records: webhookDestinations { id updatedAt } } }`;
  const kind = { part: "webhook destinations", noun: "webhook destination", stored } as const;
  const mutation = { mutation: "importWebhookDestination", input: "ImportWebhookDestinationInput" };
  await storeAll(work, { ...kind, ...mutation }, (record) =>
    picked(record, "id key url name secret enabled events projectId createdAt updatedAt"),
  );
}

const STORE_KEY = "mutation ($input: ImportKeyInput!) { result: importKey(input: $input) { id status } }";
/** Values that are cut for display. */
const MASKED = "…";

/**
 * Imports the keys with their values. An existing one can only become inactive.
 * @param assistants ids of those that the folder has
 */
export async function importKeys(work: FolderImport, assistants: ReadonlySet<unknown>): Promise<void> {
  const { target, report, progress } = work;
  const stored = new Map(
    objectsIn((await target.run("{ keys { id status } }")).keys).map(({ id, status }) => [id, status]),
  );
  let count = 0;
  for await (const record of recordsOf(work, "API keys")) {
    progress(`API keys: ${++count}`);
    const id = record.id as string;
    const isHere = stored.has(id);
    const reason = reasonAgainst(record, isHere ? undefined : assistants);
    if (reason !== undefined) {
      report.note(reason, id);
      continue;
    }
    const input = isHere ? record : withKnownAssistants(work, record, assistants);
    const answer = await target.store("key", id, STORE_KEY, { input: keyOf(input) });
    if (!answer) continue;
    if (mayImport(record)) report.note(NO_IMPORTER, id);
    const { status } = answer.result as JsonObject;
    report[stored.get(id) === status ? "unchanged" : "stored"]("API keys");
    if (status !== record.status)
      report.note("This key is active in the folder, but was made inactive here.", id);
  }
}

/** The reason why a key is left out. @param assistants to which its limits are reduced; undefined: they stay */
function reasonAgainst(record: Line, assistants: ReadonlySet<unknown> | undefined): string | undefined {
  const { value, assistantIds } = record;
  if (String(value).includes(MASKED)) return "The key of the export did not see the value of this key.";
  if (isOnlyForImports(record))
    return "This key may do nothing but import, which only the command line grants.";
  if (assistants && Array.isArray(assistantIds) && !assistantIds.some((one) => assistants.has(one)))
    return "This key is limited to assistants that are deleted, so it was left out.";
  return undefined;
}

/** A key that is limited to deleted assistants, too, without these: here it cannot name them. */
function withKnownAssistants({ report }: FolderImport, record: Line, assistants: ReadonlySet<unknown>): Line {
  if (!Array.isArray(record.assistantIds)) return record;
  const assistantIds = record.assistantIds.filter((one) => assistants.has(one));
  if (assistantIds.length < record.assistantIds.length)
    report.note(
      "Some of the assistants to which this key is limited are deleted: it names the others.",
      String(record.id),
    );
  return { ...record, assistantIds };
}

/** Without its only permission, such a key would have no limits. */
const isOnlyForImports = ({ permissions }: Line): boolean =>
  Array.isArray(permissions) && permissions.every((one) => one === "import");

function keyOf(record: Line): JsonObject {
  const { permissions, assistantIds, ...input } = withoutNulls(
    picked(record, "id value type status name permissions assistantIds expiresAt createdAt"),
  );
  const allowed = Array.isArray(permissions) ? permissions.filter((one) => one !== "import") : [];
  return {
    ...input,
    ...(allowed.length > 0 && { permissions: allowed }),
    ...(Array.isArray(assistantIds) && { assistantIds }),
  };
}

const SETTINGS = `{ organization { requireSignedIdentity retention { logsDays recordingsDays eventsDays pending { kind days } } }
  modelMappings { model provider baseUrl name keyHint } modelCredentials { provider baseUrl keyHint } }`;

/** Imports what a client may set of an organization. */
export async function importSettings(work: FolderImport): Promise<void> {
  const { target, report } = work;
  for await (const record of recordsOf(work, "organization")) {
    report.note(
      `The organization's id and name, ${String(record.id)} and ${String(record.name)}: those here stay.`,
    );
    const here = await target.run(SETTINGS);
    const organization = here.organization as JsonObject;
    const changes = [
      await change(work, "updateOrganization(input: $input) { id }", "UpdateOrganizationInput", [
        picked(record, "requireSignedIdentity"),
        organization,
      ]),
      await change(work, "updateRetention(input: $input) { id }", "UpdateRetentionInput", [
        retentionOf(record),
        retentionOf(organization),
      ]),
      await importMappings(work, record, objectsIn(here.modelMappings)),
    ];
    for (const { provider } of objectsIn(record.modelCredentials))
      report.note("The credential of this provider of models: enter it again.", String(provider));
    report[changes.includes(true) ? "stored" : "unchanged"]("settings");
  }
}

/** Times in days as they will be after announced changes. */
function retentionOf(record: JsonObject): JsonObject {
  const retention = objectIn(record, "retention");
  const chosen = picked(retention, "logsDays recordingsDays eventsDays");
  for (const { kind, days } of objectsIn(retention.pending))
    chosen[`${String(kind).toLowerCase()}Days`] = days;
  return chosen;
}

/** Runs a mutation if a value differs. @returns whether it did */
async function change(
  { target }: FolderImport,
  mutation: string,
  type: string,
  [input, here]: readonly [JsonObject, JsonObject],
): Promise<boolean> {
  if (Object.entries(input).every(([name, value]) => isDeepStrictEqual(value, here[name]))) return false;
  const query = `mutation ($input: ${type}!) { ${mutation} }`;
  return (await target.store("organization", "settings", query, { input })) !== undefined;
}

async function importMappings(
  work: FolderImport,
  record: Line,
  here: readonly JsonObject[],
): Promise<boolean> {
  let isChanged = false;
  for (const mapping of objectsIn(record.modelMappings)) {
    const input = picked(mapping, "model provider baseUrl name");
    if (mapping.keyHint !== null)
      work.report.note("The API key of this mapping of a model: enter it again.", String(mapping.model));
    const old = here.find(({ model }) => model === mapping.model) ?? {};
    isChanged =
      (await change(work, "setModelMapping(input: $input) { id }", "ModelMappingInput", [input, old])) ||
      isChanged;
  }
  return isChanged;
}
