import { keepFacts } from "../analytics/keep-facts";
import { hangUpCall } from "../calls/hang-up-call";
import { startCall } from "../calls/start-call";
import { watchCall } from "../calls/watch-call";
import { expireSms } from "../sms/expire-sms";
import { receiveSms, tellBySms } from "../sms/receive-sms";
import { sendSms } from "../sms/send-sms";
import { takeTurn } from "../conversation/turn";
import type { Database } from "../database/database";
import type { Scope } from "../database/scope";
import { expireEvents } from "../events/expire-events";
import { embedPassages } from "../knowledge/embed-passages";
import { indexFile } from "../knowledge/index-file";

/** Jobs are told ids only, and whether they will be tried again when they fail. */
export type Task = (
  scope: Scope,
  payload: Readonly<Record<string, string>>,
  lastTry: boolean,
) => Promise<void>;

/** What a job may do, by name. */
export const tasks = {
  "sms.receive": (scope, { messageSid }) => receiveSms(scope, messageSid!),
  "sms.tell": (scope, { connectionId, to, text }) => tellBySms(scope, connectionId!, to!, text!),
  "call.start": (scope, { chatId }) => startCall(scope, chatId!),
  "call.watch": (scope, { chatId }) => watchCall(scope, chatId!),
  "call.hangUp": (scope, { chatId }) => hangUpCall(scope, chatId!),
} satisfies Record<string, Task>;

/** What does all that there is to do for the ids that it is told: one job with the same ids runs at a time. */
export const soleTasks = {
  "chat.turn": (scope, { chatId }, lastTry) => takeTurn(scope, chatId!, lastTry),
  "sms.send": (scope, { chatId }) => sendSms(scope, chatId!),
} satisfies Record<string, Task>;

/** What takes long and nobody waits for: it runs beside the others, two at a time. */
export const slowTasks = {
  "file.index": (scope, { fileId }, lastTry) => indexFile(scope, fileId!, lastTry),
  "knowledge.embed": (scope, owner) => embedPassages(scope, owner),
} satisfies Record<string, Task>;

/** What is done for all organizations again and again, with when: minute, hour, day, month, day of the week, in UTC. */
export const periodicTasks = (eventDays: number) =>
  ({
    "facts.keep": { at: "* * * * *", run: keepFacts },
    "event.expire": { at: "17 * * * *", run: (database) => expireEvents(database, eventDays) },
    "sms.expire": { at: "47 * * * *", run: expireSms },
  }) satisfies Record<string, PeriodicTask>;

export interface PeriodicTask {
  readonly at: string;
  readonly run: (database: Database) => Promise<void>;
}
