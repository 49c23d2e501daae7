import { beforeAll, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { recording } from "../support/audit";
import { quietAssistant } from "../support/factories";
import { until } from "../support/until";
import { bring, chatsWith, connect, newPerson, type ConnectedNumber } from "../support/sms";
import type { Params } from "../support/twilio";

const PUBLIC = "https://parley.example";
const STATUS = "/webhooks/twilio/sms-status";
// No request waits for the answer: the API sends it.
const running = useApp({ WORKER: "on", SMS_ANSWER_SECONDS: "0", PUBLIC_BASE_URL: PUBLIC });
let assistantId: string;
let number: ConnectedNumber;
beforeAll(async () => {
  assistantId = await quietAssistant(running.api);
  number = await connect(running, [assistantId]);
});

/** A sent text; its delivery reports, and the status on its message. */
async function sent() {
  const from = newPerson();
  const words = { at: PUBLIC } as const;
  await bring(
    running,
    number,
    { MessageSid: `SM${from}`, From: from, To: number.phoneNumber, Body: "Hi" },
    words,
  );
  await until(() => running.twilio.sentTo(from).length === 1);
  const { sid, ...form } = running.twilio.sentTo(from)[0]!;
  const noted = "select from sms_sent where message_sid = $1";
  await until(async () => (await running.database.query(noted, [sid])).length === 1);
  const report = (MessageStatus: string, more: Params = {}, signature?: string) =>
    bring(
      running,
      number,
      { MessageSid: sid, From: number.phoneNumber, To: from, MessageStatus, ...more },
      {
        at: PUBLIC,
        path: STATUS,
        ...(signature !== undefined && { signature }),
      },
    );
  const shown = async () => {
    const [chat] = await chatsWith(running, assistantId, from);
    return chat!.messages.at(-1)!.metadata.delivery as unknown;
  };
  return { report, shown, form: form as unknown as Params };
}

test("a text requests delivery reports", async () => {
  const { form } = await sent();
  expect(form.StatusCallback).toBe(PUBLIC + STATUS);
});

test("the message shows its delivery status, whatever the order of the reports", async () => {
  const { report, shown } = await sent();
  expect(await shown()).toBeUndefined();
  expect((await report("sent")).status).toBe(200);
  expect(await shown()).toEqual({ status: "sent" });
  for (const status of ["delivered", "sent", "queued", "delivered"]) await report(status);
  expect(await shown()).toEqual({ status: "delivered" });
});

test("a report with new information is recorded in the audit log, a repeated one is not", async () => {
  const { report } = await sent();
  const { id } = await running.api.get("/rest/v1/organization", 200);
  const { rows } = await recording(running.database, id, async () => {
    for (const status of ["sent", "delivered", "sent", "delivered"]) await report(status);
  });
  const recorded = {
    actor: "PROVIDER",
    interface: "CALLBACK",
    operation: "smsStatus",
    recordType: "Message",
  };
  expect(rows).toMatchObject([recorded, recorded]);
  expect(rows[0]!.recordId).toEqual(expect.any(String));
});

test("the message shows why it was not delivered", async () => {
  const { report, shown } = await sent();
  await report("undelivered", { ErrorCode: "30005" });
  expect(await shown()).toEqual({ status: "undelivered", errorCode: "30005" });
});

test("a report with another signature, an unknown status or an unknown number is rejected", async () => {
  const { report, shown } = await sent();
  for (const answer of [
    await report("delivered", {}, "wrong"),
    await report("received"),
    await report("delivered", { From: "+12025550199" }),
  ])
    expect([answer.status, answer.body.code]).toEqual([403, "FORBIDDEN"]);
  expect(await shown()).toBeUndefined();
});
