import { expect, test } from "@jest/globals";
import pg from "pg";
import { ChatStart } from "../../src/conversation/turns/start-chat";
import { Messages } from "../../src/chats/chats/messages";
import { APOLOGIES } from "../../src/conversation/turns/apology";
import { newId } from "../../src/platform/database/values/ids";
import type { Scope } from "../../src/platform/database/scope";
import { freeJobs, MAX_DEATHS } from "../../src/platform/jobs/free-jobs";
import { periodicTasks, slowTasks, soleTasks, tasks, type Task as Job } from "../../src/worker/tasks";
import { enqueueNotice } from "../../src/channels/sms/send-notice";
import { eraseTextsAtProvider } from "../../src/privacy/erasure/at-providers";
import { Threads } from "../../src/channels/sms/threads";
import { useApp } from "../support/app";
import { auditRows } from "../support/audit";
import { callOf, NUMBER, place, speaker } from "../support/calls";
import { newChat, quietAssistant, say } from "../support/factories";
import { askToExport, exportOf } from "../support/exports";
import { upload } from "../support/files";
import { takeJob, waitingJobs } from "../support/jobs";
import { Receiver } from "../support/receiver";
import { afterTest, SERVER_TIMEOUT_MS, SETTINGS, startServer, type ServerProcess } from "../support/server";
import { until } from "../support/until";
import { bring, connect, newPerson, textsIn } from "../support/sms";
import { smsOf } from "../support/twilio";

/** Accepts requests. The servers that the tests start run the jobs. */
const running = useApp({ WORKER: "off" });

const server = () =>
  startServer({
    ...SETTINGS,
    DATABASE_URL: running.database.ownerUrl,
    OUTBOUND_ALLOW: "127.0.0.0/8",
    TAKEOVER_SECONDS: "2",
  });

type Task = keyof typeof tasks | keyof typeof soleTasks | keyof typeof slowTasks | keyof typeof periodicTasks;
/** Enqueues a job. @returns a part of its payload, and a check of the consequence after it was given up */
type Case = () => Promise<{ readonly has?: object; readonly consequence: () => Promise<void> }>;

const scope = async (): Promise<Scope> => {
  const [row] = await running.database.query<{ id: string }>("select id from organizations limit 1");
  return running.app.database.scope(row!.id);
};
const messagesOf = (chatId: string) =>
  running.database.query<{ role: string; content: string }>(
    "select role, content from messages where chat_id = $1 order by sequence",
    [chatId],
  );
const errorsOf = async (chatId: string) => {
  const text = "select errors from chats where id = $1";
  const [row] = await running.database.query<{ errors: { message: string }[] }>(text, [chatId]);
  return row!.errors.map(({ message }) => message).join("\n");
};
const nothing = () => Promise.resolve();

async function call(): Promise<string> {
  return place(running.api, await speaker(running.api), NUMBER.answers);
}

async function callThatFails(endedReason: string) {
  const chatId = await call();
  const consequence = async () => {
    expect(await callOf(running.api, chatId)).toMatchObject({ status: "ended", endedReason });
    expect(await errorsOf(chatId)).not.toBe("");
  };
  return { has: { chatId }, consequence };
}

const onlyLogged =
  (task: Task, payload: object = {}): Case =>
  async () => {
    // The next run of a periodic task has its name as its key.
    const options = task in periodicTasks ? { key: task } : {};
    await (await scope()).enqueue(task, { ...payload }, options);
    return { consequence: nothing };
  };

const CASES: Readonly<Record<Task, Case>> = {
  "chat.turn": async () => {
    const chatId = await newChat(running.api, await quietAssistant(running.api));
    await say(running.api, chatId, "Anybody there?", "USER");
    const consequence = async () => {
      expect((await messagesOf(chatId)).at(-1)).toEqual({ role: "ASSISTANT", content: APOLOGIES.en });
      expect(await errorsOf(chatId)).toContain("given up");
    };
    return { has: { chatId }, consequence };
  },
  "call.start": () => callThatFails("call-start-failed"),
  "call.watch": () => callThatFails("engine-lost-call"),
  "call.hangUp": async () => {
    const chatId = await call();
    await running.api.gql("mutation ($id: ID!) { cancelCall(id: $id) { id } }", { id: chatId });
    const consequence = async () => expect(await errorsOf(chatId)).toContain("hung up");
    return { has: { chatId }, consequence };
  },
  "sms.receive": async () => {
    const number = await connect(running, [await quietAssistant(running.api)]);
    const sms = smsOf(number, newPerson(), "Hello?");
    const answer = bring(running, number, sms);
    const { MessageSid: messageSid } = sms;
    const consequence = async () => {
      expect(textsIn((await answer).text)).toEqual([]);
      const text = "select outcome from sms_received where message_sid = $1";
      expect(await running.database.query(text, [messageSid])).toEqual([{ outcome: "failed" }]);
    };
    await until(async () => (await waiting("sms.receive", { messageSid })).length > 0);
    return { has: { messageSid }, consequence };
  },
  "sms.tell": async () => {
    const to = newPerson();
    const sentence = { connectionId: newId(), to, text: "Secret words" };
    await (await scope()).transaction((scope) => enqueueNotice(scope, sentence));
    const consequence = async () => {
      const text = "select body, problem from sms_sent where phone_number = $1";
      expect(await running.database.query(text, [to])).toEqual([
        { body: "Secret words", problem: "given-up" },
      ]);
    };
    return { has: { to }, consequence };
  },
  "sms.send": async () => {
    const assistantId = await quietAssistant(running.api);
    const { id: connectionId } = await connect(running, [assistantId]);
    const phoneNumber = newPerson();
    const theirs = await scope();
    const { id: chatId } = await theirs.of(ChatStart).start({ assistantId, channel: "SMS", phoneNumber });
    await theirs.of(Threads).open({ chatId, connectionId, assistantId, phoneNumber });
    const said = {
      aiChatId: chatId,
      role: "ASSISTANT",
      channel: "SMS",
      content: "Hello!",
      metadata: {},
    } as const;
    await theirs.of(Messages).postIfLive(said);
    const consequence = async () => {
      const text = "select body, problem from sms_sent where chat_id = $1";
      expect(await running.database.query(text, [chatId])).toEqual([{ body: "Hello!", problem: "given-up" }]);
      expect(await errorsOf(chatId)).toContain("not sent");
    };
    return { has: { chatId }, consequence };
  },
  "file.index": async () => {
    const assistantId = await quietAssistant(running.api);
    const { id: fileId } = await upload(running.api, { content: "Parking is free." });
    const attach = `mutation ($assistantId: ID!, $fileId: ID!) { attachFile(assistantId: $assistantId, fileId: $fileId) { id } }`;
    await running.api.gql(attach, { assistantId, fileId });
    const consequence = async () => {
      const text = "query ($id: ID!) { assistant(id: $id) { files { status problem } } }";
      const { assistant } = await running.api.gql(text, { id: assistantId });
      expect(assistant.files).toEqual([{ status: "FAILED", problem: expect.stringContaining("again") }]);
    };
    return { has: { fileId }, consequence };
  },
  "knowledge.embed": onlyLogged("knowledge.embed", { assistantId: newId() }),
  "event.sequence": onlyLogged("event.sequence"),
  "call.erase": onlyLogged("call.erase", { callId: newId(), since: new Date(0).toISOString() }),
  "chat.sweep": onlyLogged("chat.sweep", { chatId: newId() }),
  "deliveries.remove": onlyLogged("deliveries.remove", { destinationId: newId() }),
  "sms.remove": onlyLogged("sms.remove", { connectionId: newId() }),
  "erasure.run": onlyLogged("erasure.run", { erasureId: newId() }),
  "erasure.resume": onlyLogged("erasure.resume"),
  "export.run": async () => {
    const { id } = await askToExport(running, { uniqueId: "exported" });
    const consequence = async () =>
      expect(await exportOf(running, id)).toMatchObject({
        status: "FAILED",
        problem: expect.stringContaining("again"),
      });
    return { has: { exportId: id as string }, consequence };
  },
  "provider.erase": async () => {
    const { id } = (await running.api.gql('mutation { forgetEndUser(uniqueId: "nobody") { id } }'))
      .forgetEndUser;
    const target = { connectionId: newId(), sids: ["SM1", "SM2"] };
    await (await scope()).transaction((scope) => eraseTextsAtProvider(scope, target, id as string));
    const consequence = async () => {
      const [row] = await running.database.query("select texts_kept from erasures where id = $1", [id]);
      expect(row).toEqual({ texts_kept: 2 });
      expect(await running.database.query("select from provider_erasures")).toEqual([]);
    };
    return { has: {}, consequence };
  },
  "export.remove": onlyLogged("export.remove", { archiveId: newId() }),
  "export.expire": onlyLogged("export.expire"),
  "facts.keep": onlyLogged("facts.keep"),
  "facts.sum": onlyLogged("facts.sum"),
  "logs.count": onlyLogged("logs.count"),
  "deliveries.sum": onlyLogged("deliveries.sum"),
  "assistants.versions": onlyLogged("assistants.versions"),
  "assistants.removeVersions": onlyLogged("assistants.removeVersions"),
  "chat.endIdle": onlyLogged("chat.endIdle"),
  "retention.enforce": onlyLogged("retention.enforce"),
  "sms.expire": onlyLogged("sms.expire"),
  "size.measure": onlyLogged("size.measure"),
};

const waiting = (task: string, has: object) => waitingJobs(running.database, task, has);
const metric = async ({ url }: ServerProcess, task: string) => {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(
    new RegExp(`^parley_jobs_given_up_total\\{task="${task}"\\} (\\d+)$`, "m").exec(text)?.[1] ?? 0,
  );
};

/** Audit entries of a task's jobs that were given up. */
async function givenUpIn(task: string): Promise<unknown[]> {
  const { organizationId } = await scope();
  const rows = await auditRows(running.database, organizationId);
  return rows
    .filter(({ operation }) => operation === `${task}.givenUp`)
    .map(({ recordType }) => ({ recordType }));
}

test(
  "a job of any task without attempts left ends with its consequence, an audit entry, a log entry and a metric",
  async () => {
    const begun = new Map<Task, Awaited<ReturnType<Case>>>();
    for (const task of Object.keys(CASES) as Task[]) {
      const one = await CASES[task]();
      begun.set(task, one);
      const ids = (await waiting(task, one.has ?? {})).map(({ id }) => id);
      const exhaust = "select graphile_worker.permanently_fail_jobs($1::bigint[])";
      expect(await running.database.query(exhaust, [ids])).not.toEqual([]);
    }
    const first = await server();
    for (const [task, { has = {}, consequence }] of begun) {
      await until(async () => (await metric(first, task)) > 0);
      await consequence();
      const { record } = { ...tasks, ...soleTasks, ...slowTasks, ...periodicTasks }[task] as Partial<Job>;
      expect([task, await givenUpIn(task)]).toEqual([task, record ? [{ recordType: record.type }] : []]);
      expect((await waiting(task, has)).filter(({ key }) => key !== task)).toEqual([]);
      const line = first
        .stderr()
        .split("\n")
        .find((one) => one.includes("given up") && one.includes(task));
      expect(JSON.parse(line ?? "{}")).toMatchObject({ level: 50, task, msg: "a job was given up" });
    }
    expect(first.stderr()).not.toContain("Secret words");
  },
  3 * SERVER_TIMEOUT_MS,
);

test(
  "a failed run of a periodic task whose next run is enqueued is not a job that was given up",
  async () => {
    await (await scope()).enqueue("chat.endIdle", {});
    const runs = async () => (await waiting("chat.endIdle", {})).filter(({ key }) => key === null);
    const exhaust = "select graphile_worker.permanently_fail_jobs($1::bigint[], 'no time')";
    await running.database.query(exhaust, [(await runs()).map(({ id }) => id)]);
    const first = await server();
    await until(async () => (await runs()).length === 0);
    const lines = first.stderr().split("\n");
    const line = JSON.parse(lines.find((one) => one.includes("chat.endIdle"))!);
    const msg = "a run of a periodic task failed; the next is enqueued";
    expect(line).toMatchObject({ level: 40, reason: "no time", msg });
    expect(await metric(first, "chat.endIdle")).toBe(0);
  },
  3 * SERVER_TIMEOUT_MS,
);

test(
  "each failed run of a periodic task is counted",
  async () => {
    const first = await server();
    const owner = new pg.Client({ connectionString: running.database.ownerUrl });
    await owner.connect();
    await owner.query("begin");
    await owner.query("lock table chats in access exclusive mode");
    await (await scope()).enqueue("chat.endIdle", {}, { key: "chat.endIdle" });
    await until(async () => {
      const text = await (await fetch(`${first.url}/metrics`)).text();
      return /^parley_periodic_failures_total\{task="chat.endIdle"\} [1-9]/m.test(text);
    });
    await owner.end();
  },
  3 * SERVER_TIMEOUT_MS,
);

/** Simulates `times` deaths of servers that have just started the job of a chat. */
async function die(chatId: string, times: number): Promise<void> {
  const pool = new pg.Pool({ connectionString: running.database.ownerUrl, max: 1 });
  afterTest(() => pool.end());
  for (let death = 0; death < times; death++) {
    for (const { id } of await waiting("chat.turn", { chatId })) await takeJob(running.database, id, "dead");
    await freeJobs(pool, ["dead"], true);
  }
}

async function asked(): Promise<string> {
  const chatId = await newChat(running.api, await quietAssistant(running.api));
  await say(running.api, chatId, "Anybody there?", "USER");
  return chatId;
}

test(
  "a turn whose servers crashed seven times is run by the eighth, because crashes use up no attempts",
  async () => {
    const chatId = await asked();
    await die(chatId, 7);
    await server();
    await until(async () => (await messagesOf(chatId)).length === 2);
    expect((await messagesOf(chatId))[1]!.content).not.toBe(APOLOGIES.en);
  },
  3 * SERVER_TIMEOUT_MS,
);

test(
  "a turn that kills its server each time finally fails with an apology",
  async () => {
    const chatId = await asked();
    await die(chatId, MAX_DEATHS);
    await server();
    await until(async () => (await messagesOf(chatId)).length === 2);
    expect((await messagesOf(chatId))[1]!.content).toBe(APOLOGIES.en);
  },
  3 * SERVER_TIMEOUT_MS,
);

test(
  "a delivery that kills its server each time is finally marked FAILED, and the others are sent",
  async () => {
    const receiver = await new Receiver().start();
    afterTest(() => receiver.stop());
    const { id } = await running.api.post("/rest/v1/settings", { url: receiver.url, secret: "s" }, 201);
    afterTest(() => running.api.delete(`/rest/v1/settings/${id}`, 200));
    await newChat(running.api, await quietAssistant(running.api));
    const one = `select id from deliveries where destination_id = $1 order by event_id limit 1`;
    const dead = `update deliveries set attempt = $2, claimed_until = now() - interval '1 minute' where id = (${one}) returning id`;
    const [row] = await running.database.query<{ id: string }>(dead, [id, MAX_DEATHS]);
    const first = await server();
    const states = () =>
      running.database.query<{ id: string; status: string }>(
        "select id, status from deliveries where destination_id = $1",
        [id],
      );
    await until(async () => (await states()).every(({ status }) => status !== "PENDING"));
    const failed = (await states()).filter(({ status }) => status === "FAILED");
    expect(failed).toEqual([{ id: row!.id, status: "FAILED" }]);
    expect(receiver.received).toHaveLength((await states()).length - 1);
    expect(await metric(first, "webhook.deliver")).toBe(1);
    expect(first.stderr()).toContain("a delivery was given up");
  },
  3 * SERVER_TIMEOUT_MS,
);
