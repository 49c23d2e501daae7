import { beforeAll, beforeEach, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { earlier } from "../support/earlier";
import { quietAssistant } from "../support/factories";
import { until } from "../support/until";
import { bring, chatsWith, connect, newPerson, text, textsIn, type ConnectedNumber } from "../support/sms";
import { smsOf } from "../support/twilio";

const running = useApp({ WORKER: "on" });
let assistantId: string;
let number: ConnectedNumber;
beforeAll(async () => {
  assistantId = await quietAssistant(running.api);
  number = await connect(running, [assistantId]);
});
beforeEach(async () => {
  for (const table of ["sms_received", "sms_sent"]) await running.database.query(`delete from ${table}`);
});

/** Number of rows about incoming and outgoing texts. */
const noted = async () => {
  const tables = "select (select count(*) from sms_received) received, (select count(*) from sms_sent) sent";
  const [row] = await running.database.query<{ received: string; sent: string }>(tables);
  return [Number(row!.received), Number(row!.sent)];
};
/** Pretends that this many days have passed since the present records. */
async function daysPass(days: number): Promise<void> {
  for (const table of ["sms_received", "sms_sent"])
    await running.database.query(
      `update ${table} set created_at = ${earlier("created_at", "$1 * interval '1 day'")}`,
      [days],
    );
}
/** Runs the hourly job. */
async function sweep(): Promise<void> {
  const { database } = running;
  await database.query("select graphile_worker.add_job('sms.expire')");
  // The next run in an hour has a key.
  const waiting = "select from graphile_worker.jobs where task_identifier = 'sms.expire' and key is null";
  await until(async () => (await database.query(waiting)).length === 0);
}

test("a repeated text is recognized for days, then its records are deleted; messages stay", async () => {
  const from = newPerson();
  const sms = smsOf(number, from, "When do you open?");
  const first = await bring(running, number, sms);
  expect(textsIn(first.text)).toHaveLength(1);
  await daysPass(6);
  await sweep();
  expect(await noted()).toEqual([1, 1]);
  expect((await bring(running, number, sms)).text).toBe(first.text);
  await daysPass(1.1);
  const [chat] = await chatsWith(running, assistantId, from);
  expect(chat!.messages).toHaveLength(2);
  await sweep();
  expect(await noted()).toEqual([0, 0]);
  expect(await chatsWith(running, assistantId, from)).toEqual([chat]);
  expect(await text(running, number, from, "And on Sunday?")).toHaveLength(1); // in the same chat
  expect((await chatsWith(running, assistantId, from))[0]!.messages).toHaveLength(4);
});

test("records are deleted in every organization, however many there are, by a job that runs every hour", async () => {
  const other = await running.otherOrganization();
  const theirs = await connect(other, [await quietAssistant(other.api)]);
  const many = `insert into sms_received (organization_id, message_sid, connection_id, sms)
    select organization_id, 'old-' || n, id, '{}' from telephony_connections, generate_series(1, 700) n where id in ($1, $2)`;
  await running.database.query(many, [number.id, theirs.id]);
  expect(await noted()).toEqual([1_400, 0]);
  await daysPass(8);
  await text(running, number, newPerson(), "When do you open?");
  await sweep();
  expect(await noted()).toEqual([1, 1]);
  const known = "select from graphile_worker.jobs where key = 'sms.expire'";
  await until(async () => (await running.database.query(known)).length > 0);
});

test("opt-outs are never deleted", async () => {
  const from = newPerson();
  await text(running, number, from, "STOP");
  await daysPass(400);
  await sweep();
  expect(await text(running, number, from, "When do you open?")).toEqual([]);
});
