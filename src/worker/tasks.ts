import { keepFacts, sumFacts } from "../chats/analytics/keep-facts";
import { removeOldVersions } from "../assistants/versions/remove-old-versions";
import { removeTexts } from "../assistants/telephony/remove-texts";
import { storeResources } from "../assistants/versions/store-resources";
import { makeFirstVersions } from "../assistants/history/first-versions";
import { countLogs } from "../chats/logs/count-logs";
import { giveUpHangUp, giveUpStart, giveUpWatch } from "../channels/calls/give-up";
import { eraseCall } from "../channels/calls/erase-call";
import { hangUpCall } from "../channels/calls/hang-up-call";
import { startCall } from "../channels/calls/start-call";
import { watchCall } from "../channels/calls/watch-call";
import { enforceRetention } from "../privacy/retention/enforce";
import { expireSms } from "../channels/sms/expire-sms";
import { giveUpReceived, giveUpSending, giveUpNotice } from "../channels/sms/give-up";
import { receiveSms } from "../channels/sms/receive-sms";
import { sendSms } from "../channels/sms/send-sms";
import { sendNotice } from "../channels/sms/send-notice";
import { giveUpTurn } from "../conversation/turns/apology";
import { takeTurn } from "../conversation/turns/turn";
import { jobOf } from "../account/audit/note";
import type { Database } from "../platform/database/database";
import type { Scope } from "../platform/database/scope";
import { eraseAtProvider, giveUpAtProvider } from "../privacy/erasure/at-providers";
import { Erasures } from "../privacy/erasure/erasures";
import { sweepChat } from "../privacy/erasure/remove-chats";
import { resumeErasures } from "../privacy/erasure/resume";
import { expireExports } from "../privacy/exports/expire";
import { EndUserExports } from "../privacy/exports/exports";
import { removeArchive } from "../privacy/people/withdraw";
import { sequenceAll } from "../events/events/sequencer";
import { sumDeliveries } from "../events/events/delivery-sums";
import { removeDeliveries } from "../events/webhooks/remove-deliveries";
import { measureSizes } from "../account/organization/measure-sizes";
import { embedPassages } from "../assistants/knowledge/embed-passages";
import { giveUpIndexing, indexFile } from "../assistants/knowledge/index-file";
import { endIdleChats } from "./idle-chats";

/** Payload of a job: ids by name, except for `sms.tell`. */
export type Payload = Readonly<Record<string, string>>;

export interface Task {
  /** Whether it contacts people, or a model that answers them. A restored copy must not repeat such tasks. */
  readonly reachesPeople: boolean;
  /** @param lastAttempt whether no further attempt follows */
  readonly run: (scope: Scope, payload: Payload, lastAttempt: boolean) => Promise<void>;
  /** Stores the consequence of a job that was given up, so that nobody keeps waiting for it. Idempotent. */
  readonly givenUp: (scope: Scope, payload: Payload) => Promise<void>;
  /** The record that `givenUp` changes, for the audit log: its type, and the name of its id in the payload. */
  readonly record?: { readonly type: string; readonly id: string };
}

/** For jobs that nobody waits for: the log entry and the metric are enough. */
const onlyLogged = (): Promise<void> => Promise.resolve();

const CALL = { type: "Call", id: "chatId" };
const CHAT = { type: "Chat", id: "chatId" };

/** Audits changes that the watch makes to a call after its callbacks were lost. */
const watching = (scope: Scope, chatId: string): Scope =>
  scope.audited(jobOf("call.watch", "Call", chatId, { storedWith: "events" }));

/** Stores the passages of an assistant's resources if there is a model for their vectors, then the vectors. */
async function embedKnowledge(scope: Scope, owner: Payload): Promise<void> {
  const { assistantId } = owner;
  if (assistantId !== undefined && scope.ports.embeddings) await storeResources(scope, assistantId);
  await embedPassages(scope, owner);
}

/** Tasks by name, which is stored with their jobs. */
export const tasks = {
  "sms.receive": {
    reachesPeople: true,
    run: (scope, { messageSid }) => receiveSms(scope, messageSid!),
    givenUp: (scope, { messageSid }) => giveUpReceived(scope, messageSid!),
    record: { type: "Text", id: "messageSid" },
  },
  "sms.tell": {
    reachesPeople: true,
    run: (scope, { smsId, connectionId, to, text }) =>
      sendNotice(scope, { smsId, connectionId: connectionId!, to: to!, text: text! }),
    givenUp: (scope, { smsId }) => giveUpNotice(scope, smsId),
    record: { type: "Text", id: "smsId" },
  },
  "call.start": {
    reachesPeople: true,
    run: (scope, { chatId }) => startCall(scope, chatId!),
    givenUp: (scope, { chatId }) => giveUpStart(scope, chatId!),
    record: CALL,
  },
  "call.watch": {
    reachesPeople: false,
    run: (scope, { chatId }) => watchCall(watching(scope, chatId!), chatId!),
    givenUp: (scope, { chatId }) => giveUpWatch(scope, chatId!),
    record: CALL,
  },
  "call.hangUp": {
    reachesPeople: false,
    run: (scope, { chatId }) => hangUpCall(scope, chatId!),
    givenUp: (scope, { chatId }) => giveUpHangUp(scope, chatId!),
    record: CALL,
  },
  "call.erase": {
    reachesPeople: false,
    run: eraseCall,
    givenUp: onlyLogged, // the call is no longer stored here
  },
  "export.remove": {
    reachesPeople: false,
    run: (scope, { archiveId }) => removeArchive(scope, archiveId!),
    givenUp: onlyLogged, // the sweep of unused files removes it
  },
  "chat.sweep": {
    reachesPeople: false,
    run: (scope, { chatId }) => sweepChat(scope, chatId!),
    givenUp: onlyLogged,
  },
} satisfies Record<string, Task>;

/** Tasks that handle everything pending for their ids: only one job with the same ids runs at a time. */
export const soleTasks = {
  "chat.turn": {
    reachesPeople: true,
    run: (scope, { chatId }, lastAttempt) => takeTurn(scope, chatId!, lastAttempt),
    givenUp: (scope, { chatId }) => giveUpTurn(scope, chatId!),
    record: CHAT,
  },
  "sms.send": {
    reachesPeople: true,
    run: (scope, { chatId }) => sendSms(scope, chatId!),
    givenUp: (scope, { chatId }) => giveUpSending(scope, chatId!),
    record: CHAT,
  },
} satisfies Record<string, Task>;

/** Slow tasks that nobody waits for: they have their own runner with few slots. */
export const slowTasks = {
  "file.index": {
    reachesPeople: false,
    run: (scope, { fileId }, lastAttempt) => indexFile(scope, fileId!, lastAttempt),
    givenUp: (scope, { fileId }) => giveUpIndexing(scope, fileId!),
    record: { type: "File", id: "fileId" },
  },
  "knowledge.embed": {
    reachesPeople: false,
    run: embedKnowledge,
    givenUp: onlyLogged, // the passages are still found by full-text search
  },
  "erasure.run": {
    reachesPeople: false,
    run: (scope, { erasureId }) => scope.of(Erasures).run(erasureId!),
    givenUp: onlyLogged, // erasure.resume restarts it
  },
  "deliveries.remove": {
    reachesPeople: false,
    run: (scope, { destinationId }) => removeDeliveries(scope, destinationId!),
    givenUp: onlyLogged, // nobody sees them, and they go with their events
  },
  "sms.remove": {
    reachesPeople: false,
    run: (scope, { connectionId }) => removeTexts(scope, connectionId!),
    givenUp: onlyLogged, // nobody sees them; they expire, and go with their chats
  },
  "provider.erase": {
    reachesPeople: false,
    run: (scope, { providerErasureId }) => eraseAtProvider(scope, providerErasureId!),
    givenUp: (scope, { providerErasureId }) => giveUpAtProvider(scope, providerErasureId!),
    record: { type: "ProviderErasure", id: "providerErasureId" },
  },
  "export.run": {
    reachesPeople: false,
    run: (scope, { exportId }) => scope.of(EndUserExports).run(exportId!),
    givenUp: (scope, { exportId }) => scope.of(EndUserExports).fail(exportId!),
    record: { type: "EndUserExport", id: "exportId" },
  },
} satisfies Record<string, Task>;

/** Periodic tasks for all organizations. `at` is a cron expression in UTC: minute, hour, day, month, day of the week. */
export const periodicTasks = {
  "event.sequence": { at: "* * * * *", run: sequenceAll },
  "facts.keep": {
    at: "* * * * *",
    run: (database, _, stop) => keepFacts(database, stop),
  },
  "facts.sum": {
    at: "* * * * *",
    run: (database, _, stop) => sumFacts(database, stop),
  },
  "deliveries.sum": {
    at: "*/5 * * * *",
    run: (database, _, stop) => sumDeliveries(database, { stop }),
  },
  "assistants.versions": {
    at: "* * * * *",
    run: (database, _, stop) => makeFirstVersions(database, stop),
  },
  "assistants.removeVersions": {
    at: "*/15 * * * *",
    run: (database, _, stop) => removeOldVersions(database, stop),
  },
  "logs.count": { at: "* * * * *", run: (database) => countLogs(database) },
  "retention.enforce": {
    at: "*/15 * * * *",
    run: (database, _, stop) => enforceRetention(database, stop),
  },
  "erasure.resume": { at: "*/3 * * * *", run: resumeErasures },
  "export.expire": { at: "*/10 * * * *", run: expireExports },
  "size.measure": { at: "*/5 * * * *", run: measureSizes },
  "chat.endIdle": {
    at: "* * * * *",
    run: (database, { idleMinutes }, stop) => endIdleChats(database, idleMinutes, stop),
  },
  "sms.expire": { at: "47 * * * *", run: expireSms },
} satisfies Record<string, PeriodicTask>;

export interface PeriodicTask {
  readonly at: string;
  /** @param stop aborts when the server stops */
  readonly run: (database: Database, settings: PeriodicSettings, stop: AbortSignal) => Promise<void>;
}

/** Settings of the operator that periodic tasks need. */
export interface PeriodicSettings {
  /** A text or SMS chat ends after this many minutes without a message. */
  readonly idleMinutes: number;
}
