import { jobOf } from "../../account/audit/note";
import type { Database } from "../../platform/database/database";
import type { Scope } from "../../platform/database/scope";
import { removeChats } from "../erasure/remove-chats";
import { expireEvents } from "../../events/events/expire-events";
import { Retention } from "./retention";
import { expireRecordings } from "./expire-recordings";

/** Of one organization, before the next one's turn comes. */
const MOST_LOGS = 100;
const MOST_TEXTS = 500;
/** After so long the next run goes on, so that one does not hold up other slow jobs, in milliseconds. */
const RUN_MS = 120_000;

/** Deletes what organizations keep no longer, some of each in turn. */
export async function enforceRetention(database: Database): Promise<void> {
  const begun = performance.now();
  let left = await database.everyOrganization();
  while (left.length > 0 && performance.now() - begun < RUN_MS) {
    const more: string[] = [];
    for (const id of left) if (await enforceOnce(database.scope(id))) more.push(id);
    left = more;
  }
}

async function settle(scope: Scope) {
  const { held, changed } = await scope.of(Retention).settle();
  const fields = changed.map((kind) => ({ name: `${kind.toLowerCase()}Days` }));
  const operation = jobOf("retention.settle", "Organization", scope.organizationId, { fields });
  if (fields.length > 0) await scope.audited(operation).storeEntry();
  return held;
}

/** One batch, as the audit log records it. */
const retentionOf = (recordType: string) => jobOf("retention.enforce", recordType, null);

/** @returns whether there is more to delete */
async function enforceOnce(scope: Scope): Promise<boolean> {
  const { LOGS, RECORDINGS, EVENTS } = await scope.transaction(settle);
  const more = [
    LOGS !== null && (await expireLogs(scope, LOGS)),
    LOGS !== null && (await expireTexts(scope, LOGS)),
    RECORDINGS !== null && (await expireRecordings(scope, RECORDINGS, retentionOf("Recording"))),
    EVENTS !== null && (await expireEvents(scope, EVENTS, () => retentionOf("Event"))),
  ];
  return more.includes(true);
}

/** With their messages, recordings, texts and events. Live conversations stay. */
async function expireLogs(scope: Scope, days: number): Promise<boolean> {
  const old = await scope
    .table("chats")
    .select("id")
    .where({ status: "ended" })
    .whereRaw("started_at < now() - ? * interval '1 day'", [days])
    .whereRaw("ended_at < now() - ? * interval '1 day'", [days])
    .orderBy("startedAt")
    .limit(MOST_LOGS);
  await removeChats(
    scope,
    old.map(({ id }) => id),
    { keepsExports: true, operation: () => retentionOf("Log") },
  );
  return old.length === MOST_LOGS;
}

/** Records of texts that belong to no conversation. */
async function expireTexts(scope: Scope, days: number): Promise<boolean> {
  const [received, sent] = [
    await expireOf(scope, "sms_received", "messageSid", days),
    await expireOf(scope, "sms_sent", "id", days),
  ];
  return received || sent;
}

async function expireOf(
  scope: Scope,
  table: "sms_received" | "sms_sent",
  key: string,
  days: number,
): Promise<boolean> {
  const operation = retentionOf("Text");
  return scope.audited(operation).transaction(async (scope) => {
    const old = scope
      .table(table)
      .select(key)
      .whereNull("chatId")
      .whereRaw("created_at < now() - ? * interval '1 day'", [days])
      .limit(MOST_TEXTS);
    const texts = await scope.table(table).whereIn(key, old).delete();
    operation.count({ texts });
    return texts === MOST_TEXTS;
  });
}
