import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { Client } from "pg";
import { removeTexts } from "../../src/assistants/telephony/remove-texts";
import { Threads } from "../../src/channels/sms/threads";
import { useApp } from "../support/app";
import { archiveOf, exportPerson, rowsIn } from "../support/exports";
import { quietAssistant } from "../support/factories";
import { answeredBy, chatsWith, connect, newPerson, text, type ConnectedNumber } from "../support/sms";
import { stubModel } from "../support/stub-model";

const running = useApp({ WORKER: "on" });

let model: Awaited<ReturnType<typeof stubModel>>;
let assistantId: string;
beforeAll(async () => {
  model = await stubModel({ text: ["Hello!"] });
  await answeredBy(running, model);
  assistantId = await quietAssistant(running.api);
});
afterAll(() => model.stop());

let number: ConnectedNumber;
let from: string;
beforeEach(async () => {
  number = await connect(running, [assistantId]);
  from = newPerson();
  expect(await text(running, number, from, "Hello", { MessageSid: sidOf(from) })).toEqual(["Hello!"]);
});

const sidOf = (person: string) => `SM${person.slice(1).padStart(32, "0")}`;
const disconnect = () =>
  running.api.gql("mutation ($id: ID!) { disconnectTelephony(id: $id) { id } }", { id: number.id });
const reconnect = async () => {
  const { id: _, ...account } = number;
  const input = { ...account, assistantIds: [assistantId] };
  const text = "mutation ($input: ConnectTelephonyInput!) { connectTelephony(input: $input) { id } }";
  const { connectTelephony } = await running.api.gql(text, { input });
  return (connectTelephony as { id: string }).id;
};
const organization = async () => ((await running.api.get("/rest/v1/organization", 200)) as { id: string }).id;
const scope = async () => running.app.database.scope(await organization());
const remove = async (id = number.id) => (await scope()).transaction((scope) => removeTexts(scope, id));

const textsOf = async (id = number.id) => {
  const count = async (table: string) =>
    (await running.database.query(`select from ${table} where connection_id = $1`, [id])).length;
  return { received: await count("sms_received"), threads: await count("sms_threads") };
};

test("a number is disconnected as fast as one without texts, which a job removes", async () => {
  const other = await connect(running, [assistantId]);
  await text(running, other, from, "Hello");
  const busy = new Client({ connectionString: running.database.ownerUrl });
  await busy.connect();
  // A request that removed texts would wait for this transaction.
  await busy.query("begin");
  for (const table of ["sms_received", "sms_threads"])
    await busy.query(`select from ${table} where organization_id = $1 and connection_id = $2 for update`, [
      await organization(),
      number.id,
    ]);
  await disconnect();
  await busy.query("commit");
  await busy.end();
  const jobs = await running.database.query<{ due: boolean }>(
    "select run_at > now() + interval '20 seconds' as due from graphile_worker.jobs where key = $1",
    [`sms.remove:${await organization()}:${number.id}`],
  );
  expect(jobs).toEqual([{ due: true }]);
  expect(await textsOf()).toEqual({ received: 1, threads: 1 });
  await remove();
  expect(await textsOf()).toEqual({ received: 0, threads: 0 });
  expect(await textsOf(other.id)).toEqual({ received: 1, threads: 1 });
});

test("the texts of a number that is connected are not removed", async () => {
  await remove();
  expect(await textsOf()).toEqual({ received: 1, threads: 1 });
});

test("the texts of a disconnected number are neither exported nor continued", async () => {
  const exportedTexts = async () => {
    const { id } = await exportPerson(running, { phoneNumber: from });
    return rowsIn((await archiveOf(running, id as string))["texts.ndjson"]).filter((row) => "sms" in row);
  };
  expect(await exportedTexts()).toHaveLength(1);
  const [chat] = await chatsWith(running, assistantId, from);
  const threads = (await scope()).of(Threads);
  expect(await threads.of(chat!.id)).toMatchObject({ connectionId: number.id });
  await disconnect();
  expect(await textsOf()).toEqual({ received: 1, threads: 1 });
  expect(await exportedTexts()).toEqual([]);
  expect(await threads.of(chat!.id)).toBeUndefined();
  expect(await chatsWith(running, assistantId, from)).toHaveLength(1);
});

test("a number that is connected again receives texts, also repeated ones, and keeps them", async () => {
  await disconnect();
  const id = await reconnect();
  expect(await text(running, number, from, "Hello", { MessageSid: sidOf(from) })).toEqual(["Hello!"]);
  expect(await text(running, number, from, "Still there?")).toEqual(["Hello!"]);
  await remove();
  expect(await textsOf(id)).toEqual({ received: 2, threads: 1 });
  expect(await textsOf()).toEqual({ received: 0, threads: 0 });
});
