import { jobOf } from "../../account/audit/note";
import type { Database } from "../../platform/database/database";
import type { Scope } from "../../platform/database/scope";
import { rest } from "../../platform/jobs/rest";
import { EXPIRED_BATCH_SIZE, expireTexts } from "../../channels/sms/expire-texts";
import { removeChats } from "../erasure/remove-chats";
import { expireEvents } from "../../events/events/expire-events";
import { Retention } from "./retention";
import { expireRecordings } from "./expire-recordings";

/** Logs deleted per organization in each round. */
const LOG_BATCH_SIZE = 100;
/** Time limit of one run, in ms; the next run continues. */
const MAX_RUN_MS = 600_000;

/**
 * Deletes expired data of all organizations, in rounds of one batch each, with rests.
 * @param stop ends the run after the batch at hand, when the server stops
 */
export async function enforceRetention(database: Database, stop?: AbortSignal): Promise<void> {
  const startedAt = performance.now();
  let remaining = await database.everyOrganization();
  /** Up to which event each organization has been searched. */
  const places = new Map<string, string>();
  const isOver = () => stop?.aborted === true || performance.now() - startedAt > MAX_RUN_MS;
  while (remaining.length > 0 && !isOver()) {
    const more: string[] = [];
    for (const id of remaining) {
      if (isOver()) return;
      const began = performance.now();
      if (!(await enforceOnce(database.scope(id), places))) continue;
      more.push(id);
      await rest(began, stop);
    }
    remaining = more;
  }
}

async function settle(scope: Scope) {
  const { held, changed } = await scope.of(Retention).settle();
  const fields = changed.map((kind) => ({ name: `${kind.toLowerCase()}Days` }));
  const operation = jobOf("retention.settle", "Organization", scope.organizationId, { fields });
  if (fields.length > 0) await scope.audited(operation).storeEntry();
  return held;
}

/** The audit operation of one batch. */
const retentionOf = (recordType: string) => jobOf("retention.enforce", recordType, null);

/** @returns whether there is more to delete */
async function enforceOnce(scope: Scope, places: Map<string, string>): Promise<boolean> {
  const { LOGS, RECORDINGS, EVENTS } = await scope.transaction(settle);
  const more = [
    LOGS !== null && (await expireLogs(scope, LOGS)),
    LOGS !== null && (await expireOldTexts(scope, LOGS)),
    RECORDINGS !== null && (await expireRecordings(scope, RECORDINGS, retentionOf("Recording"))),
    EVENTS !== null && (await expireSomeEvents(scope, EVENTS, places)),
  ];
  return more.includes(true);
}

/** Deletes the next old events. Events that stay, because deliveries need them, are not searched again in this run. */
async function expireSomeEvents(scope: Scope, days: number, places: Map<string, string>): Promise<boolean> {
  const { organizationId: id } = scope;
  const reached = await expireEvents(scope, days, () => retentionOf("Event"), places.get(id));
  if (reached !== undefined) places.set(id, reached);
  return reached !== undefined;
}

/** Deletes old logs with their messages, recordings, texts and events. Live conversations stay. */
async function expireLogs(scope: Scope, days: number): Promise<boolean> {
  const old = await scope
    .table("chats")
    .select("id")
    .where({ status: "ended" })
    .whereRaw("started_at < now() - ? * interval '1 day'", [days])
    .whereRaw("ended_at < now() - ? * interval '1 day'", [days])
    .orderBy("startedAt")
    .limit(LOG_BATCH_SIZE);
  await removeChats(
    scope,
    old.map(({ id }) => id),
    { keepsExports: true, operation: () => retentionOf("Log") },
  );
  return old.length === LOG_BATCH_SIZE;
}

/** Deletes old texts outside any conversation. */
async function expireOldTexts(scope: Scope, days: number): Promise<boolean> {
  const more: boolean[] = [];
  for (const table of ["sms_received", "sms_sent"] as const) {
    const operation = retentionOf("Text");
    const texts = await scope.audited(operation).transaction(async (scope) => {
      const texts = await expireTexts(scope, { table, days, outsideChats: true });
      operation.count({ texts });
      return texts;
    });
    more.push(texts === EXPIRED_BATCH_SIZE);
  }
  return more.includes(true);
}
