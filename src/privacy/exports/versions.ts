import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";

type Row = Readonly<Record<string, unknown>>;

/** Rows read per statement. */
const BATCH_SIZE = 500;

/** Versions of assistants that a person made under one of these names. Their documents are the organization's. */
export async function* versionsBy(scope: Scope, names: readonly string[]): AsyncGenerator<Row> {
  yield* await scope.read(FIRST_VERSIONS, [names]);
  for (let last = { assistantId: "", number: 0 }; ;) {
    const rows = await scope
      .table("assistant_versions")
      .select("assistantId", "number", "userId", "note", "createdAt")
      .whereIn("userId", names)
      .whereRaw("(assistant_id, number) > (?, ?)", [last.assistantId, last.number])
      .orderBy(["assistantId", "number"])
      .limit(BATCH_SIZE);
    yield* rows;
    if (rows.length < BATCH_SIZE) break;
    last = rows.at(-1)!;
  }
}

/** First versions of assistants that nobody has changed; others are stored. */
const FIRST_VERSIONS = statement<Row>(({ db }) =>
  db.raw(`
  select a.id as assistant_id, 1 as number, a.created_by->>'userId' as user_id, null as note,
    (a.created_by->>'at')::timestamptz as created_at
  from assistants a where a.organization_id = $1 and a.created_by->>'userId' = any($2::text[]) and not exists (
    select from version_heads h where h.organization_id = $1 and h.assistant_id = a.id)
  order by a.id`),
);
