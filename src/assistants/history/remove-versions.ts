import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";

interface ValueLeft {
  readonly name: string;
  /** JSON. */
  readonly value: string;
}

/** Deletes versions, and the long values that no other version has. Runs in a transaction that has locked the assistant. */
export async function deleteVersions(
  scope: Scope,
  assistantId: string,
  numbers: readonly number[],
): Promise<void> {
  await scope
    .table("assistant_versions")
    .where({ assistantId })
    .whereIn("number", [...numbers])
    .delete();
  await scope.write(DELETE_UNUSED_TEXTS, [assistantId]);
}

/** The different values that the versions of an assistant have under some names, such as `chat.functions`. */
export const valuesLeft = (
  scope: Scope,
  assistantId: string,
  names: readonly string[],
): Promise<ValueLeft[]> => scope.read(VALUES_LEFT, [assistantId, names]);

const DELETE_UNUSED_TEXTS = statement(({ db }) =>
  db.raw(`
  delete from version_texts where version_texts.organization_id = $1 and version_texts.assistant_id = $2
    and not exists (
      select from assistant_versions cross join lateral jsonb_each(assistant_versions.content) as one (name, value)
      where assistant_versions.organization_id = $1 and assistant_versions.assistant_id = $2
        and one.value = to_jsonb(version_texts.digest))`),
);

const VALUES_LEFT = statement<ValueLeft>(({ db }) =>
  db.raw(`
  select distinct one.name, coalesce(version_texts.content, (one.value -> 0)::text) as value
  from assistant_versions cross join lateral jsonb_each(assistant_versions.content) as one (name, value)
  left join version_texts on version_texts.organization_id = $1 and version_texts.assistant_id = $2
    and to_jsonb(version_texts.digest) = one.value
  where assistant_versions.organization_id = $1 and assistant_versions.assistant_id = $2 and one.name = any($3::text[])`),
);
