import { expect, test } from "@jest/globals";
import { ChatStart } from "../../src/conversation/turns/start-chat";
import { newId } from "../../src/platform/database/values/ids";
import { Deadline, RequestNotSent } from "../../src/platform/outbound/deadline";
import { OutgoingTexts } from "../../src/channels/sms/outgoing-texts";
import { Threads } from "../../src/channels/sms/threads";
import { useApp } from "../support/app";
import { earlier } from "../support/earlier";
import { quietAssistant } from "../support/factories";
import { connect, newPerson } from "../support/sms";

const running = useApp({ WORKER: "off" });
const TIMEOUT = 10_000;

/** A text waiting to be sent. */
async function waiting() {
  const assistantId = await quietAssistant(running.api);
  const { id: connectionId } = await connect(running, [assistantId]);
  const [row] = await running.database.query<{ id: string }>("select id from organizations limit 1");
  const scope = running.app.database.scope(row!.id);
  const phoneNumber = newPerson();
  const { id: chatId } = await scope.of(ChatStart).start({ assistantId, channel: "SMS", phoneNumber });
  await scope.of(Threads).open({ chatId, connectionId, assistantId, phoneNumber });
  await scope.insertAll("sms_sent", [{ id: newId(), chatId, via: "API", body: "Hello!" }]);
  const sent = scope.of(OutgoingTexts);
  const read = async () => (await sent.open(chatId))[0]!;
  return { sent, read };
}

test("a text is sent by the server that claimed it last, while the claim is valid by the database's clock", async () => {
  const { sent, read } = await waiting();
  const first = await read();
  expect(await sent.claim(first)).toBe(true);
  await sent.checkClaim(first, TIMEOUT);
  expect(await sent.claim(first)).toBe(false);
  const second = await read();
  expect(await sent.claim(second)).toBe(true);
  await expect(sent.checkClaim(first, TIMEOUT)).rejects.toThrow(RequestNotSent);
  await sent.checkClaim(second, TIMEOUT);
  await running.database.query(
    `update sms_sent set asked_at = ${earlier("asked_at", "interval '11 seconds'")}`,
  );
  await expect(sent.checkClaim(second, TIMEOUT)).rejects.toThrow(RequestNotSent);
});

test("an attempt that sent nothing is undone unless another server has claimed the text meanwhile", async () => {
  const { sent, read } = await waiting();
  const first = await read();
  await sent.claim(first);
  await sent.releaseClaim(first);
  expect(await read()).toEqual(first);
  await sent.claim(first);
  const second = await read();
  await sent.claim(second);
  await sent.releaseClaim(first);
  expect((await read()).attempts).toBe(2);
});

test("no request is sent after its deadline, and a pending one is aborted at the deadline", async () => {
  expect(() => new Deadline(0).signal()).toThrow(RequestNotSent);
  const signal = new Deadline(20).signal();
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  expect(signal.aborted).toBe(true);
});
