import { beforeAll, beforeEach, expect, test } from "@jest/globals";
import { ended, speaker } from "../support/calls";
import { useEngine } from "../support/engine";
import { askToForget, erased, forget, receiptOf } from "../support/erasures";
import { quietAssistant } from "../support/factories";
import { runNow } from "../support/jobs";
import { until } from "../support/until";
import { bring, chatsWith, connect, newPerson, textsIn, type ConnectedNumber } from "../support/sms";
import { smsOf } from "../support/twilio";

const AT = "https://parley.example";
const running = useEngine({ WORKER: "on", VOICE_ENGINE_TIMEOUT_SECONDS: "1" });
let assistantId: string;
let number: ConnectedNumber;
beforeAll(async () => {
  assistantId = await quietAssistant(running.api);
  number = await connect(running, [assistantId]);
});
beforeEach(() => {
  running.twilio.deletions.length = 0;
  running.twilio.pageSize = 1_000;
});

/** Sends a text and its answer; the provider stores both. */
async function text(from: string, words: string): Promise<void> {
  const sms = smsOf(number, from, words);
  running.twilio.received.push({
    sid: sms.MessageSid!,
    account: number.accountSid,
    From: from,
    To: number.phoneNumber,
    Body: words,
    inbound: true,
    createdAt: new Date(),
  });
  const answer = await bring(running, number, sms, { at: AT });
  running.twilio.reply(number, from, textsIn(answer.text));
}
const keptOf = (phoneNumber: string): string[] =>
  [...running.twilio.sent, ...running.twilio.received]
    .filter(({ From, To }) => [From, To].includes(phoneNumber))
    .map(({ Body }) => Body);
const forgetNotes = () =>
  Promise.all(["sms_received", "sms_sent"].map((table) => running.database.query(`delete from ${table}`)));

test("texts of a person are deleted at the provider in both directions, and nobody else's", async () => {
  const [person, other] = [newPerson(), newPerson()];
  for (const from of [person, other]) for (const words of ["One", "Two"]) await text(from, words);
  const before = keptOf(other);
  expect(keptOf(person).length).toBeGreaterThanOrEqual(4);
  expect(await forget(running, { phoneNumber: person })).toMatchObject({ chats: 1, textsKept: 0 });
  expect(keptOf(person)).toEqual([]);
  expect(keptOf(other)).toEqual(before);
  expect(running.twilio.problems).toEqual([]);
});

test("texts whose records have expired are found at the provider, however many there are", async () => {
  const person = newPerson();
  for (const words of ["One", "Two", "Three"]) await text(person, words);
  await forgetNotes();
  running.twilio.pageSize = 2;
  expect(await forget(running, { phoneNumber: person })).toMatchObject({ chats: 1, textsKept: 0 });
  expect(keptOf(person)).toEqual([]);
});

test("texts of a deleted log are deleted at the provider too", async () => {
  const person = newPerson();
  await text(person, "Hello?");
  const [chat] = await chatsWith(running, assistantId, person);
  await running.api.gql("mutation ($id: ID!) { endChat(id: $id) { id } }", { id: chat!.id });
  const REMOVE =
    "mutation ($assistantId: ID!, $id: ID!) { deleteLog(assistantId: $assistantId, id: $id) { id } }";
  await running.api.gql(REMOVE, { assistantId, id: chat!.id });
  await until(() => keptOf(person).length === 0);
});

test("the receipt contains the number of texts that the provider refused to delete", async () => {
  const person = newPerson();
  await text(person, "Hello?");
  running.twilio.deletions.push(403);
  const receipt = await forget(running, { phoneNumber: person });
  expect(receipt).toMatchObject({ status: "DONE", chats: 1, textsKept: 1, callsKept: 0 });
  expect(keptOf(person)).toHaveLength(1);
  expect(JSON.stringify(receipt)).not.toContain(person);
});

test.each([[409], [429], [503]])(
  "a text that cannot be deleted yet (%i) is deleted later",
  async (status) => {
    const person = newPerson();
    await text(person, "Hello?");
    running.twilio.deletions.push(status);
    const { id } = await askToForget(running, { phoneNumber: person });
    await until(() => running.twilio.deletions.length === 0);
    expect(await erased(running, id)).toMatchObject({ textsKept: 0 });
    expect(keptOf(person)).toEqual([]);
  },
);

test("the erasure stays unfinished until the providers have answered", async () => {
  const person = newPerson();
  await text(person, "Hello?");
  running.twilio.deletions.push(...Array.from({ length: 50 }, () => 503));
  const { id } = await askToForget(running, { phoneNumber: person });
  await until(async () => Number((await receiptOf(running, id)).chats) === 1);
  await until(() => running.twilio.deletions.length < 50);
  expect(await receiptOf(running, id)).toMatchObject({ status: "RUNNING", finishedAt: null });
  running.twilio.deletions.length = 0;
  await runNow(running.database);
  expect(await erased(running, id)).toMatchObject({ textsKept: 0 });
});

test("a call is deleted at the voice engine before the erasure is done", async () => {
  const userId = "called-person";
  const engine = await running.call(await speaker(running.api), { userId }, "+41783999124");
  await engine.tell("status-update", { status: "in-progress" });
  await engine.tell("end-of-call-report", { endedReason: "customer-ended-call", artifact: { messages: [] } });
  await ended(running.api, engine.id);
  expect(await forget(running, { userId })).toMatchObject({ chats: 1, callsKept: 0 });
  expect(running.vapi.deleted).toContain(engine.engineCallId);
});
