import { expect, test } from "@jest/globals";
import pg from "pg";
import { ChatStart } from "../../src/conversation/turns/start-chat";
import { Messages } from "../../src/chats/chats/messages";
import { APOLOGIES } from "../../src/conversation/turns/apology";
import { periodicTasks, type slowTasks, type soleTasks, type tasks } from "../../src/worker/tasks";
import { newId } from "../../src/platform/database/values/ids";
import { enqueueNotice } from "../../src/channels/sms/send-notice";
import { eraseTextsAtProvider } from "../../src/privacy/erasure/at-providers";
import { Threads } from "../../src/channels/sms/threads";
import { useApp } from "../support/app";
import { callOf, NUMBER, place, speaker } from "../support/calls";
import { newChat, quietAssistant, say } from "../support/factories";
import { askToExport, exported } from "../support/exports";
import { upload } from "../support/files";
import { waitingJobs } from "../support/jobs";
import { afterTest, SERVER_TIMEOUT_MS, SETTINGS, startServer } from "../support/server";
import { until } from "../support/until";
import { bring, connect, newPerson } from "../support/sms";
import { rows } from "../support/suite";
import { smsOf } from "../support/twilio";

/** Accepts requests. The servers that the tests start and kill run the jobs. */
const running = useApp({ WORKER: "off" });

const server = () =>
  startServer({
    ...SETTINGS,
    DATABASE_URL: running.database.ownerUrl,
    OUTBOUND_ALLOW: "127.0.0.0/8",
    TWILIO_BASE_URL: running.twilio.url,
    SIMULATOR_SPEED: "2000",
    TAKEOVER_SECONDS: "2",
    DATA_DIR: running.dataDir,
  });

type Periodic = keyof typeof periodicTasks;
type Task = keyof typeof tasks | keyof typeof soleTasks | keyof typeof slowTasks | Periodic;

interface Case {
  /** Table that the test locks, so that the task waits while its server is killed. */
  readonly at: string;
  /** Enqueues a job. @returns a part of its payload, and a check that another server has finished it */
  readonly begin: () => Promise<{ readonly has: object; readonly finished?: () => Promise<void> }>;
}

const scope = async () => {
  const [row] = await running.database.query<{ id: string }>("select id from organizations limit 1");
  return running.app.database.scope(row!.id);
};
const messagesOf = (chatId: string) =>
  running.database.query<{ role: string; content: string }>(
    "select role, content from messages where chat_id = $1 order by sequence",
    [chatId],
  );
const sentTo = (phoneNumber: string) =>
  running.twilio.sent.filter(({ To }) => To === phoneNumber).map(({ Body }) => Body);

async function call(): Promise<{ has: { chatId: string }; finished: () => Promise<void> }> {
  const chatId = await place(running.api, await speaker(running.api), NUMBER.answers);
  const finished = () => until(async () => (await callOf(running.api, chatId)).status === "ended");
  return { has: { chatId }, finished };
}

const periodic = (task: Periodic, at: string): Case => ({
  at,
  begin: async () => {
    await (await scope()).enqueue(task, {});
    return { has: {} };
  },
});

/** A case for every task; a missing or extra case does not compile. */
const CASES = {
  "chat.turn": {
    at: "chats",
    begin: async () => {
      const chatId = await newChat(running.api, await quietAssistant(running.api));
      await say(running.api, chatId, "Anybody there?", "USER");
      const finished = async () => {
        await until(async () => (await messagesOf(chatId)).length > 1);
        const [, answer, ...more] = await messagesOf(chatId);
        expect(answer!.role).toBe("ASSISTANT");
        expect(answer!.content).not.toBe(APOLOGIES.en);
        expect(more).toEqual([]);
      };
      return { has: { chatId }, finished };
    },
  },
  "call.start": { at: "calls", begin: call },
  "call.watch": { at: "calls", begin: call },
  "call.hangUp": {
    at: "calls",
    begin: async () => {
      const made = await call();
      await running.api.gql("mutation ($id: ID!) { cancelCall(id: $id) { id } }", { id: made.has.chatId });
      return made;
    },
  },
  "sms.receive": {
    at: "sms_received",
    begin: async () => {
      const number = await connect(running, [await quietAssistant(running.api)]);
      const sms = smsOf(number, newPerson(), "Hello?");
      const { MessageSid: messageSid } = sms;
      const answer = bring(running, number, sms);
      afterTest(() => answer);
      await until(async () => (await waiting("sms.receive", { messageSid })).length > 0);
      const finished = async () => {
        const text = "select outcome from sms_received where message_sid = $1 and outcome is not null";
        await until(async () => (await running.database.query(text, [messageSid])).length > 0);
        expect(await running.database.query(text, [messageSid])).not.toEqual([{ outcome: "failed" }]);
      };
      return { has: { messageSid: messageSid! }, finished };
    },
  },
  "sms.tell": {
    at: "telephony_connections",
    begin: async () => {
      const { id: connectionId } = await connect(running, [await quietAssistant(running.api)]);
      const to = newPerson();
      await (await scope()).transaction((scope) => enqueueNotice(scope, { connectionId, to, text: "Once." }));
      const finished = async () => {
        await until(() => sentTo(to).length > 0);
        expect(sentTo(to)).toEqual(["Once."]);
      };
      return { has: { connectionId }, finished };
    },
  },
  "sms.send": {
    at: "sms_threads",
    begin: async () => {
      const assistantId = await quietAssistant(running.api);
      const { id: connectionId } = await connect(running, [assistantId]);
      const phoneNumber = newPerson();
      const theirs = await scope();
      const { id: chatId } = await theirs.of(ChatStart).start({ assistantId, channel: "SMS", phoneNumber });
      await theirs.of(Threads).open({ chatId, connectionId, assistantId, phoneNumber });
      const more = { aiChatId: chatId, role: "ASSISTANT", channel: "SMS", metadata: {} } as const;
      await theirs.of(Messages).postIfLive({ ...more, content: "Hello!" });
      const finished = async () => {
        await until(() => sentTo(phoneNumber).length > 0);
        expect(sentTo(phoneNumber)).toEqual(["Hello!"]);
      };
      return { has: { chatId }, finished };
    },
  },
  "file.index": {
    at: "files",
    begin: async () => {
      const assistantId = await quietAssistant(running.api);
      const { id: fileId } = await upload(running.api, { content: "Parking is free." });
      const attach = `mutation ($assistantId: ID!, $fileId: ID!) { attachFile(assistantId: $assistantId, fileId: $fileId) { id } }`;
      await running.api.gql(attach, { assistantId, fileId });
      return { has: { fileId } };
    },
  },
  "chat.sweep": {
    at: "chats",
    begin: async () => {
      const has = { chatId: newId() };
      await (await scope()).enqueue("chat.sweep", has);
      return { has };
    },
  },
  "deliveries.remove": {
    at: "webhook_destinations",
    begin: async () => {
      const has = { destinationId: newId() };
      await (await scope()).enqueue("deliveries.remove", has);
      return { has };
    },
  },
  "sms.remove": {
    at: "telephony_connections",
    begin: async () => {
      const has = { connectionId: newId() };
      await (await scope()).enqueue("sms.remove", has);
      return { has };
    },
  },
  "erasure.run": {
    at: "erasures",
    begin: async () => {
      const chatId = await newChat(running.api, await quietAssistant(running.api), { uniqueId: "gone" });
      await running.api.gql('mutation { forgetEndUser(uniqueId: "gone") { __typename } }');
      const finished = async () => {
        const open = "select from erasures where status <> 'DONE'";
        await until(async () => (await running.database.query(open)).length === 0);
        expect(await running.database.query("select from chats where id = $1", [chatId])).toEqual([]);
      };
      return { has: {}, finished };
    },
  },
  "export.run": {
    at: "end_user_exports",
    begin: async () => {
      await newChat(running.api, await quietAssistant(running.api), { uniqueId: "exported" });
      const { id } = await askToExport(running, { uniqueId: "exported" });
      const finished = async () =>
        expect(await exported(running, id)).toMatchObject({ status: "DONE", chats: 1 });
      return { has: { exportId: id as string }, finished };
    },
  },
  "provider.erase": {
    at: "provider_erasures",
    begin: async () => {
      const { id: connectionId } = await connect(running, [await quietAssistant(running.api)]);
      const target = { connectionId, sids: [`SM${"0".repeat(32)}`] };
      await (await scope()).transaction((scope) => eraseTextsAtProvider(scope, target, newId()));
      const finished = () =>
        until(async () => (await running.database.query("select from provider_erasures")).length === 0);
      return { has: {}, finished };
    },
  },
  "export.expire": periodic("export.expire", "end_user_exports"),
  "event.sequence": periodic("event.sequence", "events"),
  "facts.keep": periodic("facts.keep", "conversation_facts_kept"),
  "facts.sum": periodic("facts.sum", "conversation_facts_kept"),
  "logs.count": periodic("logs.count", "log_changes"),
  "deliveries.sum": periodic("deliveries.sum", "delivery_sum_heads"),
  "assistants.removeVersions": periodic("assistants.removeVersions", "assistant_versions"),
  "retention.enforce": periodic("retention.enforce", "retentions"),
  "erasure.resume": periodic("erasure.resume", "erasures"),
  "chat.endIdle": periodic("chat.endIdle", "chats"),
  "sms.expire": periodic("sms.expire", "sms_received"),
  "size.measure": periodic("size.measure", "stored_sizes"),
} satisfies Record<Exclude<Task, TaskWithoutTable>, Case>;

/**
 * Tasks that wait for no table: they use only the engine or the storage, do nothing without an embedding model, or only
 * once after an upgrade (test/domain/versions).
 */
type TaskWithoutTable = "call.erase" | "export.remove" | "knowledge.embed" | "assistants.versions";

const waiting = (task: string, has: object) => waitingJobs(running.database, task, has);
/** Jobs of a task that a worker has taken; their payloads are hidden. */
const taken = (task: string) =>
  running.database.query(
    "select from graphile_worker.jobs where task_identifier = $1 and locked_at is not null",
    [task],
  );

type Name = keyof typeof CASES;
const PERIODIC = (Object.keys(periodicTasks) as Task[]).filter((name): name is Name => name in CASES);
const others = (Object.keys(CASES) as Name[]).filter((name) => !PERIODIC.includes(name));
/** One server runs one periodic task at a time, and the others side by side. */
const rounds = rows([others, ...PERIODIC.map((name) => [name])], 1);

test.each(rounds.rows.map((names) => [names.join(", "), names] as const))(
  `a job of a server that is killed while it runs %s is finished by another (${rounds.title} rounds)`,
  async (_, names) => {
    const begun: (readonly [Name, { has: object; finished?: () => Promise<void> }])[] = [];
    for (const name of names) begun.push([name, await (CASES[name] as Case).begin()]);
    const runIn = async (pause: string) => {
      for (const [name, { has }] of begun) {
        const ids = (await waiting(name, has)).map(({ id }) => id);
        // Waiting for the table fails after the statement timeout, on a slow machine more often than a job is retried.
        const text = `select graphile_worker.reschedule_jobs($1::bigint[], run_at => now() + $2::interval, max_attempts => 25)`;
        await running.database.query(text, [ids, pause]);
      }
    };
    await runIn("1 hour");
    const first = await server(); // before the tables are locked, because its start reads views of them on Citus
    const owner = new pg.Client({ connectionString: running.database.ownerUrl });
    await owner.connect();
    afterTest(() => owner.end());
    await owner.query("begin");
    const tables = new Set(names.map((name) => CASES[name].at));
    await owner.query(`lock table ${[...tables].join(", ")} in access exclusive mode`);
    await runIn("0");
    for (const [name] of begun) await until(async () => (await taken(name)).length > 0);
    await first.end("SIGKILL");
    await owner.query("rollback");

    const second = await server();
    for (const [name, { has, finished }] of begun) {
      await finished?.();
      await until(async () => (await taken(name)).length === 0);
      const due = async () => (await waiting(name, has)).filter(({ runAt }) => runAt <= new Date());
      await until(async () => (await due()).length === 0);
    }
    expect(await (await fetch(`${second.url}/metrics`)).text()).not.toMatch(
      /^parley_jobs_given_up_total\{.*\} [1-9]/m,
    );
  },
  4 * SERVER_TIMEOUT_MS,
);
