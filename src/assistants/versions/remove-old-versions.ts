import { jobOf } from "../../account/audit/note";
import { isImporting } from "../../account/organization/importing";
import type { Database } from "../../platform/database/database";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { SPOKEN_KINDS, storedFormsOf, storedSlotsIn } from "../history/function-secrets";
import { deleteVersions, valuesLeft } from "../history/remove-versions";
import { VersionKeeper } from "../history/version-keeper";
import { FilePassages } from "../knowledge/file-passages";
import { fileIdsIn, functionsIn, type DocumentValues } from "./document";
import { draftsInUse, versionsInUse } from "./versions-in-use";

/** Versions removed before the next organization has its turn. */
const BATCH_SIZE = 500;
/** After this time the rest is left to the next run. In ms. */
const MAX_RUN_MS = 60_000;
/** A version stays for this long after the next one: a conversation that has read it may not be stored yet. */
const SETTLING = "1 hour";

/** Removes the oldest versions of organizations that have more than their quota, except those in use. */
export async function removeOldVersions(database: Database, stop?: AbortSignal): Promise<void> {
  const startedAt = performance.now();
  let left = await database.everyOrganization();
  while (left.length > 0) {
    const more: string[] = [];
    for (const id of left) {
      if (stop?.aborted || performance.now() - startedAt > MAX_RUN_MS) return;
      if (await removeBatch(database.scope(id))) more.push(id);
    }
    left = more;
  }
}

/** @returns whether there may be more to remove */
async function removeBatch(scope: Scope): Promise<boolean> {
  const { versions: quota } = scope.ports.quotas;
  const found = await scope.read(REMOVABLE, [quota, BATCH_SIZE]);
  let [seen, removed] = [0, 0];
  for (const { assistantId, numbers } of found) {
    seen += numbers.length;
    removed += await removeOf(scope, assistantId, numbers);
  }
  return seen === BATCH_SIZE && removed > 0;
}

/**
 * Removes versions of an assistant, unless something has begun to use them. None while an import is under way, which stores
 * versions before the deployments and drafts that use them.
 * @returns how many
 */
async function removeOf(scope: Scope, assistantId: string, found: readonly number[]): Promise<number> {
  const operation = jobOf("assistants.removeVersions", "Assistant", null);
  return scope.audited(operation).transaction(async (scope) => {
    if (!(await scope.of(VersionKeeper).lock(assistantId)) || (await isImporting(scope))) return 0;
    const inUse = await versionsInUse(scope, assistantId);
    const numbers = found.filter((number) => !inUse.includes(number));
    if (numbers.length === 0) return 0;
    await deleteVersions(scope, assistantId, numbers);
    await removeUnused(scope, assistantId);
    operation.count({ versions: numbers.length });
    return numbers.length;
  });
}

/** Removes secrets of functions and passages of files that no version and no draft has anymore. */
async function removeUnused(scope: Scope, assistantId: string): Promise<void> {
  const names = [...SPOKEN_KINDS.map((kind) => `${kind}.functions`), "fileIds"];
  const values = await valuesLeft(scope, assistantId, names);
  const documents: DocumentValues[] = [
    ...values.map(({ name, value }) => ({ [name]: JSON.parse(value) as unknown })),
    ...(await draftsInUse(scope, assistantId)),
  ];
  const slots = documents.flatMap(functionsIn).flatMap(([kind, text]) => storedSlotsIn(kind, text));
  const fileIds = new Set(documents.flatMap((document) => fileIdsIn(document) ?? []));
  await scope.write(DELETE_OTHER_SECRETS, [assistantId, storedFormsOf(slots)]);
  const passages = scope.of(FilePassages);
  for (const fileId of (await passages.kept(assistantId)).sort())
    if (!fileIds.has(fileId)) await passages.release(assistantId, fileId);
}

const DELETE_OTHER_SECRETS = statement(({ db }) =>
  db.raw(`
  delete from function_secrets where function_secrets.organization_id = $1 and function_secrets.assistant_id = $2
    and slot <> all($3::text[])`),
);

/** The oldest versions beyond a quota that nothing uses, by assistant. Parameters: the quota, the most that are found. */
const REMOVABLE = statement<{ assistantId: string; numbers: readonly number[] }>(({ db }) =>
  db.raw(`
  with excess as (
    select greatest(count(*) - $2::bigint, 0) as versions from assistant_versions
    where assistant_versions.organization_id = $1),
  used as (
    select chats.assistant_id, chats.assistant_version as number from chats
    where chats.organization_id = $1 and status <> 'ended' and chats.assistant_version is not null
    union select speaker.key, speaker.value::integer
    from chats cross join lateral jsonb_each_text(chats.speaker_versions) as speaker (key, value)
    where chats.organization_id = $1 and status <> 'ended'
    union select deployments.assistant_id, deployments.assistant_version from deployments
    where deployments.organization_id = $1 and deployments.assistant_version is not null
    union select assistant_drafts.assistant_id, assistant_drafts.based_on from assistant_drafts
    where assistant_drafts.organization_id = $1
    union select version_heads.assistant_id, version_heads.number from version_heads
    where version_heads.organization_id = $1)
  select oldest.assistant_id, array_agg(oldest.number) as numbers from (
  select old.assistant_id, old.number from assistant_versions old
  where old.organization_id = $1 and exists (
      select from assistant_versions next where next.organization_id = $1 and next.assistant_id = old.assistant_id
        and next.number > old.number and next.created_at < now() - interval '${SETTLING}')
    and not exists (select from used where used.assistant_id = old.assistant_id and used.number = old.number)
  order by old.created_at, old.assistant_id, old.number
  limit least($3::bigint, (select versions from excess))) as oldest
  group by oldest.assistant_id`),
);
