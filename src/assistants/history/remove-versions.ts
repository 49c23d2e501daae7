import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { COMPLETE_EVERY, PARTIAL } from "./kept-content";

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
  await scope.write(COMPLETE_NEXT, [assistantId, numbers]);
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

/** Adds all values of the document to the versions whose content refers to versions that are about to be deleted. */
const COMPLETE_NEXT = statement(({ db }) =>
  db.raw(`
  with next as (
    select distinct (
      select min(later.number) from assistant_versions later
      where later.organization_id = $1 and later.assistant_id = $2 and later.number <> all($3::integer[])
        and later.number > gone.number and later.number / ${COMPLETE_EVERY} = gone.number / ${COMPLETE_EVERY}) as number
    from unnest($3::integer[]) as gone (number)),
  whole as (
    select next.number, jsonb_object_agg(latest.name, latest.value) as content from next cross join lateral (
      select distinct on (one.name) one.name, one.value
      from assistant_versions own cross join lateral jsonb_each(own.content) as one (name, value)
      where own.organization_id = $1 and own.assistant_id = $2 and one.name <> '${PARTIAL}'
        and own.number between next.number - next.number % ${COMPLETE_EVERY} and next.number
      order by one.name, own.number desc) latest
    group by next.number)
  update assistant_versions set content = whole.content from whole
  where assistant_versions.organization_id = $1 and assistant_versions.assistant_id = $2
    and assistant_versions.number = whole.number and assistant_versions.content -> '${PARTIAL}' is not null`),
);

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
