import { keepFacts } from "../analytics/keep-facts";
import { giveUpHangUp, giveUpStart, giveUpWatch } from "../calls/give-up";
import { hangUpCall } from "../calls/hang-up-call";
import { startCall } from "../calls/start-call";
import { watchCall } from "../calls/watch-call";
import { expireSms } from "../sms/expire-sms";
import { giveUpReceived, giveUpSending } from "../sms/give-up";
import { receiveSms, tellBySms } from "../sms/receive-sms";
import { sendSms } from "../sms/send-sms";
import { giveUpTurn, takeTurn } from "../conversation/turn";
import type { Database } from "../database/database";
import type { Scope } from "../database/scope";
import { expireEvents } from "../events/expire-events";
import { sequenceAll } from "../events/sequencer";
import { embedPassages } from "../knowledge/embed-passages";
import { giveUpIndexing, indexFile } from "../knowledge/index-file";

/** Jobs are told ids only. */
export type Payload = Readonly<Record<string, string>>;

export interface Task {
  /** @param lastTry whether no other attempt follows */
  readonly run: (scope: Scope, payload: Payload, lastTry: boolean) => Promise<void>;
  /** Stores the consequence of a job that was given up, so that nobody waits for it. Running twice changes nothing. */
  readonly givenUp: (scope: Scope, payload: Payload) => Promise<void>;
}

/** For jobs that nobody waits for: the error in the log and the metric are all. */
const onlyLogged = (): Promise<void> => Promise.resolve();

/** What a job may do, by name. */
export const tasks = {
  "sms.receive": {
    run: (scope, { messageSid }) => receiveSms(scope, messageSid!),
    givenUp: (scope, { messageSid }) => giveUpReceived(scope, messageSid!),
  },
  "sms.tell": {
    run: (scope, { connectionId, to, text }) => tellBySms(scope, connectionId!, to!, text!),
    givenUp: onlyLogged, // a fixed sentence that belongs to no chat
  },
  "call.start": {
    run: (scope, { chatId }) => startCall(scope, chatId!),
    givenUp: (scope, { chatId }) => giveUpStart(scope, chatId!),
  },
  "call.watch": {
    run: (scope, { chatId }) => watchCall(scope, chatId!),
    givenUp: (scope, { chatId }) => giveUpWatch(scope, chatId!),
  },
  "call.hangUp": {
    run: (scope, { chatId }) => hangUpCall(scope, chatId!),
    givenUp: (scope, { chatId }) => giveUpHangUp(scope, chatId!),
  },
} satisfies Record<string, Task>;

/** Tasks that do all that there is to do for their ids: one job with the same ids runs at a time. */
export const soleTasks = {
  "chat.turn": {
    run: (scope, { chatId }, lastTry) => takeTurn(scope, chatId!, lastTry),
    givenUp: (scope, { chatId }) => giveUpTurn(scope, chatId!),
  },
  "sms.send": {
    run: (scope, { chatId }) => sendSms(scope, chatId!),
    givenUp: (scope, { chatId }) => giveUpSending(scope, chatId!),
  },
} satisfies Record<string, Task>;

/** Slow tasks that nobody waits for: they run beside the others, a few at a time. */
export const slowTasks = {
  "file.index": {
    run: (scope, { fileId }, lastTry) => indexFile(scope, fileId!, lastTry),
    givenUp: (scope, { fileId }) => giveUpIndexing(scope, fileId!),
  },
  "knowledge.embed": {
    run: (scope, owner) => embedPassages(scope, owner),
    givenUp: onlyLogged, // the passages are found by their words
  },
} satisfies Record<string, Task>;

/** Whether a task reaches people, or a model that answers them: what a restored copy must not repeat. */
export const outgoing: Readonly<
  Record<keyof typeof tasks | keyof typeof soleTasks | keyof typeof slowTasks, boolean>
> = {
  "sms.receive": true,
  "sms.tell": true,
  "call.start": true,
  "call.watch": false,
  "call.hangUp": false,
  "chat.turn": true,
  "sms.send": true,
  "file.index": false,
  "knowledge.embed": false,
};

/** What is done for all organizations again and again, with when: minute, hour, day, month, day of the week, in UTC. */
export const periodicTasks = (eventDays: number) =>
  ({
    "event.sequence": { at: "* * * * *", run: sequenceAll },
    "facts.keep": { at: "* * * * *", run: keepFacts },
    "event.expire": { at: "17 * * * *", run: (database) => expireEvents(database, eventDays) },
    "sms.expire": { at: "47 * * * *", run: expireSms },
  }) satisfies Record<string, PeriodicTask>;

export interface PeriodicTask {
  readonly at: string;
  readonly run: (database: Database) => Promise<void>;
}
