import { getEventListeners } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Waiters } from "../../src/channels/sms/answer-sms";
import { useApp } from "../support/app";
import { quietAssistant } from "../support/factories";
import { afterTest, SERVER_TIMEOUT_MS } from "../support/server";
import { until } from "../support/until";
import { answeredBy, bring, chatsWith, connect, newPerson, text, type ConnectedNumber } from "../support/sms";
import { stubModel } from "../support/stub-model";
import { sign, smsOf } from "../support/twilio";

/** No request waits for an answer here: all answers are late. */
const running = useApp({ WORKER: "on", SMS_ANSWER_SECONDS: "0" });
const patient = useApp({ WORKER: "on" });
const SENTENCE = "We open at nine and close late in the evening. ";
let model: Awaited<ReturnType<typeof stubModel>>;
let long: Awaited<ReturnType<typeof stubModel>>;
let assistantId: string;
let number: ConnectedNumber;

beforeAll(async () => {
  model = await stubModel({ text: ["We open at 9."] });
  long = await stubModel({ text: [SENTENCE.repeat(100)] });
  await answeredBy(running, model);
  await answeredBy(patient, long);
  assistantId = await quietAssistant(running.api);
  number = await connect(running, [assistantId], { messagingServiceSid: `MG${"a".repeat(32)}` });
});
afterAll(async () => {
  await model.stop();
  await long.stop();
});

const sentBy = ({ twilio }: typeof running, from: string) => twilio.sentTo(from).map(({ Body }) => Body);
const sentTo = (from: string) => sentBy(running, from);
const errorsOf = async (from: string) => {
  const [chat] = await chatsWith(running, assistantId, from);
  const { log } = await running.api.gql(
    "query ($id: ID!, $assistantId: ID!) { log(id: $id, assistantId: $assistantId) { metadata } }",
    { id: chat!.id, assistantId },
  );
  return JSON.stringify(log.metadata);
};

describe("an answer that is too late for the request", () => {
  test("is sent by the provider's API, once, from the number and its messaging service", async () => {
    const from = newPerson();
    expect(await text(running, number, from, "When?")).toEqual([]);
    await until(() => running.twilio.sentTo(from).length > 0);
    expect(running.twilio.sentTo(from)).toEqual([
      expect.objectContaining({
        account: number.accountSid,
        To: from,
        From: number.phoneNumber,
        MessagingServiceSid: `MG${"a".repeat(32)}`,
        Body: "We open at 9.",
      }),
    ]);
  });

  test("is not sent in the response to a repeated text, which gets the same empty answer", async () => {
    const from = newPerson();
    const sms = smsOf(number, from, "When?");
    const first = await bring(running, number, sms);
    await until(() => sentTo(from).length > 0);
    expect((await bring(running, number, sms)).text).toBe(first.text);
    expect(sentTo(from)).toHaveLength(1);
  });

  test("is retried if the provider was overloaded or closed the connection", async () => {
    for (const behavior of ["busy", "breaks"] as const) {
      const from = newPerson();
      running.twilio.behaviors.push(behavior);
      await text(running, number, from, "When?");
      await until(async () => (await rows(from)).some(({ attempts }) => attempts === 1));
      // The provider is asked about a broken request after a while; this simulates that time.
      if (behavior === "breaks") await change(from, { asked_at: new Date(Date.now() - 25_000) });
      await until(async () => (await rows(from)).some((row) => row.sent_at !== null));
      expect(sentTo(from)).toEqual(["We open at 9."]);
      expect(await rows(from)).toMatchObject([{ attempts: 2, problem: null }]);
    }
  });

  test("is not retried if the provider refuses it, and the log has the reason", async () => {
    const from = newPerson();
    running.twilio.behaviors.push("refuses");
    await text(running, number, from, "When?");
    await until(async () => (await errorsOf(from)).includes("21610"));
    expect(sentTo(from)).toEqual([]);
    expect(await errorsOf(from)).not.toContain(number.authToken);
  });

  test("that the provider accepted without confirming is found there, and not sent twice", async () => {
    const from = newPerson();
    running.twilio.behaviors.push("takes in silence");
    await text(running, number, from, "When?");
    await until(() => sentTo(from).length > 0);
    // The provider is asked about an unconfirmed text after a while; this simulates that time.
    const back = { asked_at: new Date(Date.now() - 25_000) };
    await until(async () => (await rows(from)).some(({ attempts }) => attempts === 1));
    await change(from, back);
    await until(async () => (await rows(from)).some((row) => row.sent_at !== null));
    expect(sentTo(from)).toHaveLength(1);
  });

  test("is not sent to a person who has texted STOP meanwhile", async () => {
    const from = newPerson();
    running.twilio.behaviors.push("busy");
    await text(running, number, from, "When?");
    await until(async () => (await rows(from)).some(({ attempts }) => attempts === 1));
    await text(running, number, from, "STOP");
    await until(async () => (await rows(from)).some(({ problem }) => problem === "opted-out"));
    // On a slow machine the API may send the confirmation; the answer must not be sent at all.
    expect(sentTo(from).filter((sent) => !sent.startsWith("You will get no more"))).toEqual([]);
  });
});

describe("another message in an SMS chat", () => {
  const post = (aiChatId: string, role: string, content: string) =>
    running.api.post(
      "/rest/v1/ai-chats/messages",
      { aiChatId, role, channel: "SMS", content, metadata: {} },
      201,
    );

  test("of the assistant is sent; notes are not; a message posted for the person is answered", async () => {
    const from = newPerson();
    await text(running, number, from, "When?");
    await until(() => sentTo(from).length === 1);
    const [chat] = await chatsWith(running, assistantId, from);
    await post(chat!.id, "SYSTEM", "The person is a regular.");
    await post(chat!.id, "TOOL", "Nothing.");
    await post(chat!.id, "ASSISTANT", "This is Bea of the shop.");
    await until(() => sentTo(from).length === 2);
    await post(chat!.id, "USER", "And on Sunday?");
    await until(() => sentTo(from).length === 3);
    expect(sentTo(from)).toEqual(["We open at 9.", "This is Bea of the shop.", "We open at 9."]);
  });

  test("is not sent anywhere if no person has texted", async () => {
    const START = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";
    const { startChat } = await running.api.gql(START, { input: { assistantId, channel: "SMS" } });
    const before = running.twilio.sent.length;
    await post(startChat.id, "ASSISTANT", "Hello?");
    await text(running, number, newPerson(), "When?");
    await until(() => running.twilio.sent.length > before);
    expect(running.twilio.sent.slice(before).map(({ Body }) => Body)).toEqual(["We open at 9."]);
  });
});

test("a long answer is sent in parts, in order, by TwiML and by the API", async () => {
  const line = await connect(patient, [await quietAssistant(patient.api)]);
  const texts = await text(patient, line, newPerson(), "Tell me all");
  expect(texts.length).toBeGreaterThan(1);
  await answeredBy(running, long);
  const from = newPerson();
  await text(running, number, from, "Tell me all");
  await until(() => sentTo(from).length === texts.length);
  expect(sentTo(from)).toEqual(texts);
  expect(running.twilio.problems).toEqual([]);
});

test("an answer is sent by the API if the request breaks off before", async () => {
  const slow = await stubModel({ text: ["We open at 9."], after: 1_000 });
  afterTest(() => slow.stop());
  await answeredBy(patient, slow);
  const line = await connect(patient, [await quietAssistant(patient.api)]);
  const from = newPerson();
  const params = new URLSearchParams(smsOf(line, from, "When?"));
  const path = "/webhooks/twilio/intercept-sms";
  const gone = new AbortController();
  const request = fetch(patient.url + path, {
    method: "POST",
    body: params,
    headers: { "X-Twilio-Signature": sign(line.authToken, patient.url + path, Object.fromEntries(params)) },
    signal: gone.signal,
  }).catch(() => undefined);
  await until(() => slow.asked.length > 0);
  gone.abort();
  await request;
  await until(() => patient.twilio.sentTo(from).length > 0);
  expect(patient.twilio.sentTo(from).map(({ Body }) => Body)).toEqual(["We open at 9."]);
});

test(
  "if too many texts wait for answers, the API sends the other answers, each once",
  async () => {
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const slow = await stubModel({ text: ["We open ", "at 9."], held });
    afterTest(() => slow.stop());
    await answeredBy(patient, slow);
    const line = await connect(patient, [await quietAssistant(patient.api)]);
    const { limit } = Waiters;
    afterTest(() => void (Waiters.limit = limit));
    Waiters.limit = 5;
    const early: string[][] = [];
    const people: string[] = [];
    const answers: Promise<string[]>[] = [];
    const send = () => {
      const from = newPerson();
      people.push(from);
      answers.push(text(patient, line, from, "When?").then((texts) => (early.push(texts), texts)));
    };
    // One after another, because a request counts only when it has begun to wait.
    await until(() => early.length > 0 || void send());
    letGo();
    expect(early.flat()).toEqual([]);
    const atOnce = await Promise.all(answers);
    const all = () => people.map((from, index) => [...atOnce[index]!, ...sentBy(patient, from)]);
    await until(() => all().every((texts) => texts.length > 0));
    expect(all()).toEqual(people.map(() => ["We open at 9."]));
  },
  3 * SERVER_TIMEOUT_MS,
);

test("texts whose answers come too late no longer count as waiting, so others are answered at once", async () => {
  const { limit } = Waiters;
  afterTest(() => void (Waiters.limit = limit));
  Waiters.limit = 2;
  const waiters = new Waiters(running.app.database.scope("").ports.listener);
  const { signal } = new AbortController();
  for (const name of ["one", "two", "three"]) await waiters.next(name, 1, signal);
  expect(waiters.isFull).toBe(false);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

interface Row {
  readonly attempts: number;
  readonly sent_at: Date | null;
  readonly problem: string | null;
}
const OF =
  "from chats c where c.organization_id = s.organization_id and c.id = s.chat_id and c.phone_number = $1";
const rows = async (from: string): Promise<Row[]> =>
  (await running.database.query(`select s.* from sms_sent s where exists (select 1 ${OF})`, [from])) as Row[];
const change = (from: string, { asked_at }: { asked_at: Date }) =>
  running.database.query(`update sms_sent s set asked_at = $2 where exists (select 1 ${OF})`, [
    from,
    asked_at,
  ]);
