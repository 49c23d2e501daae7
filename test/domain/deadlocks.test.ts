import { afterEach, expect, test } from "@jest/globals";
import pg from "pg";
import { sumDeliveries } from "../../src/events/events/delivery-sums";
import { useApp } from "../support/app";
import { someoneWaits } from "../support/database";
import { newAssistant, newChat, quietAssistant } from "../support/factories";
import { Receiver } from "../support/receiver";
import { until } from "../support/until";

const running = useApp({ WORKER: "off" });
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** Another transaction, whose deadlocks PostgreSQL finds later than those of the service. */
async function otherTransaction(): Promise<pg.Client> {
  const other = new pg.Client({ connectionString: running.database.ownerUrl });
  await other.connect();
  stops.push(() => other.end());
  await other.query("begin; set local deadlock_timeout = '1min'");
  return other;
}

/**
 * Lets a request wait for rows of other transactions, each of which then waits for rows of the request.
 * @param times number of transactions, which queue for the rows before the request does
 */
async function deadlocked<A>(
  first: string,
  second: string,
  id: string,
  request: () => Promise<A>,
  times = 1,
): Promise<A> {
  const wait = (atLeast: number) => someoneWaits(running.database, "%", atLeast);
  const others: { transaction: pg.Client; locked: Promise<unknown> }[] = [];
  for (let number = 0; number < times; number++) {
    const transaction = await otherTransaction();
    const locked = transaction.query(first, [id]);
    others.push({ transaction, locked });
    if (number === 0) await locked;
    else await until(() => wait(number));
  }
  let early: unknown;
  const answer = request();
  const ended = () => void (early = answer);
  void answer.then(ended, ended);
  for (const [number, { transaction, locked }] of others.entries()) {
    await locked;
    await until(async () => early ?? (await wait(times - number)));
    expect(await early).toBeUndefined();
    await transaction.query(second, [id]);
    await transaction.query("commit");
  }
  return answer;
}

test("deleting a destination succeeds after a deadlock with another change", async () => {
  const receiver = await new Receiver().start();
  stops.push(() => receiver.stop());
  const { id } = await running.api.post(
    "/rest/v1/settings",
    { url: receiver.url, secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" },
    201,
  );
  await newChat(running.api, await quietAssistant(running.api));
  await running.database.query(
    "update deliveries set created_at = now() - interval '1 day', status = 'FAILED'",
  );
  await sumDeliveries(running.app.database);
  const { status } = await deadlocked(
    "select from delivery_sums where destination_id = $1 for update",
    "select from webhook_destinations where id = $1 for update",
    id,
    () => running.api.request("DELETE", `/rest/v1/settings/${id}`),
  );
  expect(status).toBe(200);
  expect(await running.database.query("select from webhook_destinations where id = $1", [id])).toEqual([]);
});

test.each([
  ["a deadlock with another change", 1],
  ["two deadlocks", 2],
])("changing a configuration succeeds after %s, and makes one version", async (_, times) => {
  const id = await newAssistant(running.api);
  const change = (prompt: string) =>
    running.api.request("PATCH", `/rest/v1/assistants/${id}/chat`, { prompt });
  expect((await change("Be brief.")).status).toBe(200);
  const { status, body } = await deadlocked(
    "select from version_heads where assistant_id = $1 for update",
    "select from chat_configurations where assistant_id = $1 for update",
    id,
    () => change("Be kind."),
    times,
  );
  expect([status, body.prompt]).toEqual([200, "Be kind."]);
  const [head] = await running.database.query<{ number: number }>(
    "select number from version_heads where assistant_id = $1",
    [id],
  );
  expect(head!.number).toBe(3);
});
