import { beforeEach, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { quietAssistant } from "../support/factories";
import { holdUpdates } from "../support/hold-updates";
import { runNow, waitingJobs } from "../support/jobs";
import {
  afterTest,
  afterTests,
  SERVER_TIMEOUT_MS,
  type ServerProcess,
  SETTINGS,
  startServer,
} from "../support/server";
import { until } from "../support/until";
import {
  answeredBy,
  bring,
  chatsWith,
  connect,
  type ConnectedNumber,
  newPerson,
  textsIn,
  wordsOf,
} from "../support/sms";
import { type Reply, stubModel } from "../support/stub-model";
import { type Params, smsOf } from "../support/twilio";

/** Connects numbers. The servers that the tests start and kill process the texts. */
const running = useApp({ WORKER: "off", SMS_ANSWER_SECONDS: "0" });

const server = (env: Record<string, string> = {}): Promise<ServerProcess> =>
  startServer(
    {
      ...SETTINGS,
      DATABASE_URL: running.database.ownerUrl,
      TWILIO_BASE_URL: running.twilio.url,
      OUTBOUND_ALLOW: "127.0.0.0/8",
      TAKEOVER_SECONDS: "2",
      ...env,
    },
    afterTests,
  );
/** The server that took over in one test is killed in the next. */
let last: ServerProcess;
const another = async () => (last = await server());

let assistantId: string;
let number: ConnectedNumber;
let from: string;
let sms: Params;
beforeEach(async () => {
  assistantId = await quietAssistant(running.api);
  number = await connect(running, [assistantId]);
  from = newPerson();
  sms = smsOf(number, from, "When do you open?");
});

const ANSWER = "We open at 9.";
async function modelThat(...replies: Reply[]) {
  const model = await stubModel(...replies);
  afterTest(model.stop);
  await answeredBy(running, model);
  return model;
}
/** Delivers the text. @returns the immediate answer; undefined if the server died */
const broughtTo = (at: Pick<ServerProcess, "api" | "url">) =>
  bring(at, number, sms).then(
    ({ status, text }) => (expect(status).toBe(200), textsIn(text)),
    () => undefined,
  );
const never = new Promise<never>(() => undefined);

interface Row {
  readonly via: string;
  readonly sent_at: Date | null;
  readonly message_sid: string | null;
}
const rows = () =>
  running.database.query<Row>(
    `select s.* from sms_sent s join chats c on c.organization_id = s.organization_id and c.id = s.chat_id
     where c.phone_number = $1`,
    [from],
  );
/** Makes unconfirmed texts old enough to be looked up. */
const later = async () => {
  const { database } = running;
  await database.query("update sms_sent set created_at = now() - interval '25 seconds'");
  await database.query(
    "update sms_sent set asked_at = now() - interval '25 seconds' where asked_at is not null",
  );
  await runNow(database, "run_at > now()");
};
const sent = () => running.twilio.sentTo(from).map(({ Body }) => Body);

/** Expects exactly one stored message of the person and one answer. */
async function expectOneAnswer(): Promise<void> {
  const chats = await chatsWith(running, assistantId, from);
  expect(chats.map(wordsOf)).toEqual([["USER: When do you open?", `ASSISTANT: ${ANSWER}`]]);
  expect(
    await running.database.query("select from sms_received where message_sid = $1", [sms.MessageSid]),
  ).toHaveLength(1);
  expect(running.twilio.problems).toEqual([]);
}

test(
  "a text stored by a server that is killed at once is answered once by another, through the API",
  async () => {
    await modelThat({ text: [ANSWER] });
    const first = await server({ WORKER: "off", SMS_ANSWER_SECONDS: "1" });
    const lost = broughtTo(first);
    const stored = "select from sms_received where message_sid = $1";
    await until(async () => (await running.database.query(stored, [sms.MessageSid])).length > 0);
    await first.end("SIGKILL");
    expect(await lost).toBeUndefined();
    const second = await another();
    await until(() => sent().length > 0);
    expect(await broughtTo(second)).toEqual([]);
    expect(sent()).toEqual([ANSWER]);
    await expectOneAnswer();
  },
  3 * SERVER_TIMEOUT_MS,
);

test(
  "a text whose server is killed while the model answers is answered once, to the next request with that text",
  async () => {
    const model = await modelThat({ text: ["It is ", "late."], held: never }, { text: [ANSWER] });
    const first = last;
    const lost = broughtTo(first);
    await until(() => model.asked.length === 1);
    await first.end("SIGKILL");
    expect(await lost).toBeUndefined();
    const second = await another();
    const answer = await broughtTo(second);
    if (answer!.length === 0) await until(() => sent().length > 0); // on a slow machine no request waits for the answer any more
    expect([...answer!, ...sent()]).toEqual([ANSWER]);
    expect(await broughtTo(second)).toEqual(answer);
    expect(model.asked).toHaveLength(2);
    await expectOneAnswer();
  },
  3 * SERVER_TIMEOUT_MS,
);

test(
  "an answer whose server is killed while the provider receives it is found there and not sent again",
  async () => {
    await modelThat({ text: [ANSWER] });
    await last.end("SIGKILL"); // no other server may send it
    running.twilio.behaviors.push("takes and hangs");
    const first = await server({ SMS_ANSWER_SECONDS: "0" });
    expect(await broughtTo(first)).toEqual([]);
    await until(() => sent().length === 1);
    await first.end("SIGKILL");
    expect(await rows()).toMatchObject([{ via: "API", sent_at: null, message_sid: null }]);
    await later();
    await another();
    await until(async () => (await rows())[0]!.sent_at !== null);
    expect(await rows()).toMatchObject([{ message_sid: running.twilio.sentTo(from)[0]!.sid }]);
    expect(sent()).toEqual([ANSWER]);
    await expectOneAnswer();
  },
  3 * SERVER_TIMEOUT_MS,
);

test.each([
  ["finds it at the provider and sends nothing", true],
  ["sends it if the provider does not have it", false],
])(
  "an answer whose server is killed after sending, before it is stored: another server %s",
  async (_, arrived) => {
    await modelThat({ text: [ANSWER] });
    const held = await holdUpdates(running.database, "sms_sent");
    const first = last;
    expect(await broughtTo(first)).toEqual([ANSWER]);
    if (arrived) running.twilio.reply(number, from, [ANSWER]);
    await first.end("SIGKILL");
    await held.end();
    expect(await rows()).toMatchObject([{ via: "TWIML", sent_at: null }]);
    await later();
    const second = await another();
    await until(async () => (await rows())[0]!.sent_at !== null);
    expect(sent()).toEqual([ANSWER]);
    expect(await broughtTo(second)).toEqual([ANSWER]); // the same answer as to the first
    expect(sent()).toEqual([ANSWER]);
    await expectOneAnswer();
  },
  3 * SERVER_TIMEOUT_MS,
);

test(
  "two servers that receive the same text at once give the same answer, and store it and call the model once",
  async () => {
    const model = await modelThat({ text: [ANSWER], after: 300 });
    const servers = [last, await another()];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => broughtTo(servers[index % 2]!)),
    );
    expect(new Set(answers.map(String))).toEqual(new Set([ANSWER]));
    expect(model.asked).toHaveLength(1);
    expect(await rows()).toMatchObject([{ via: "TWIML" }]);
    expect(sent()).toEqual([]);
    await expectOneAnswer();
    for (const one of servers) await one.end("SIGKILL");
  },
  3 * SERVER_TIMEOUT_MS,
);

test(
  "texts of a person are processed in order, even if the job of the first one runs last",
  async () => {
    await modelThat({ text: [ANSWER] });
    expect(await broughtTo(running)).toEqual([]);
    const second = smsOf(number, from, "And when do you close?");
    expect((await bring(running, number, second)).status).toBe(200);
    const { MessageSid: messageSid } = sms;
    for (const { id } of await waitingJobs(running.database, "sms.receive", { messageSid }))
      await running.database.query(
        "select graphile_worker.reschedule_jobs(array[$1::bigint], run_at => now() + interval '1 hour')",
        [id],
      );
    await another();
    await until(() => sent().length > 0);
    const [chat] = await chatsWith(running, assistantId, from);
    const asked = wordsOf(chat!).filter((words) => words.startsWith("USER"));
    expect(asked).toEqual(["USER: When do you open?", "USER: And when do you close?"]);
  },
  3 * SERVER_TIMEOUT_MS,
);
