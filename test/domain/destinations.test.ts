import { createHmac } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import pg from "pg";
import { useApp } from "../support/app";
import { earlier } from "../support/earlier";
import { queueAll, someoneWaits } from "../support/database";
import { newChat, quietAssistant, say, UNKNOWN_ID } from "../support/factories";
import { importerOf } from "../support/importers";
import { Receiver } from "../support/receiver";
import { until } from "../support/until";

const running = useApp({ WORKER: "on" });

let receiver: Receiver;
let id: string;
beforeEach(async () => {
  receiver = await new Receiver().start();
  ({ id } = await running.api.post("/rest/v1/settings", { url: receiver.url, secret: "first" }, 201));
});
afterEach(async () => {
  await running.api.delete(`/rest/v1/settings/${id}`, 200);
  await receiver.stop();
});

interface Delivery {
  readonly id: string;
  readonly status: string;
  readonly nextAttemptAt: string | null;
  readonly attempts: readonly { readonly number: number; readonly status: number | null }[];
  readonly event: { readonly id: string; readonly name: string };
}

const DELIVERY =
  "id status nextAttemptAt attempts { number status answer } event { id name companionId payload }";
const TEST = `mutation ($id: ID!) { testWebhookDestination(id: $id) { ${DELIVERY} destination { id } } }`;
const trial = async (): Promise<Delivery> =>
  (await running.api.gql(TEST, { id })).testWebhookDestination as Delivery;

const destination = async () => {
  const { webhookDestinations } = await running.api.gql(
    `{ webhookDestinations { id enabled deliveries(first: 50) { nodes { ${DELIVERY} } } } }`,
  );
  const found = webhookDestinations.find((one: { id: string }) => one.id === id);
  return { enabled: found.enabled as boolean, deliveries: found.deliveries.nodes as Delivery[] };
};

/** The deliveries, newest first, once all of them have been tried this often. */
async function tried(times = 1): Promise<Delivery[]> {
  return until(async () => {
    const { deliveries } = await destination();
    return (
      deliveries.length > 0 && deliveries.every(({ attempts }) => attempts.length >= times) && deliveries
    );
  });
}

async function due(): Promise<void> {
  const { database } = running;
  await database.query("update deliveries set next_attempt_at = now() where destination_id = $1", [id]);
  await queueAll(database);
}
const hmac = (secret: string, text: string, encoding: "hex" | "base64") =>
  createHmac("sha256", secret).update(text).digest(encoding);

describe("a test of a destination", () => {
  test("sends one event without meaning, signed like others, and shows the result", async () => {
    const other = await new Receiver().start();
    const made = await running.api.post("/rest/v1/settings", { url: other.url, secret: "s" }, 201);
    const begun = await trial();
    expect(begun).toMatchObject({ status: "PENDING", destination: { id } });
    const [got] = await receiver.until(1);
    expect(got!.headers["webhook-id"]).toBe(begun.event.id);
    expect(got!.headers["x-signature"]).toBe(hmac("first", got!.text, "hex"));
    expect(got!.body).toMatchObject({ event: "interaction-status", type: "TEXT", data: {} });
    expect(await tried()).toMatchObject([
      { id: begun.id, status: "DELIVERED", nextAttemptAt: null, attempts: [{ status: 200, answer: "ok" }] },
    ]);
    expect(other.received).toEqual([]);
    await running.api.delete(`/rest/v1/settings/${made.id}`, 200);
    await other.stop();
  });

  test("is refused for an unknown destination", async () => {
    const { extensions } = await running.api.gqlError(TEST, { id: UNKNOWN_ID });
    expect(extensions.code).toBe("WEBHOOK_DESTINATION_NOT_FOUND");
  });
});

describe("a delivery", () => {
  const REDELIVER = `mutation ($id: ID!) { redeliver(deliveryId: $id) { ${DELIVERY} } }`;

  test("can be sent again with the same id and bytes, as a new delivery", async () => {
    await newChat(running.api, await quietAssistant(running.api));
    await receiver.until(2);
    const [, start] = await tried();
    const again = (await running.api.gql(REDELIVER, { id: start!.id })).redeliver as Delivery;
    expect(again).toMatchObject({ status: "PENDING", attempts: [], event: start!.event });
    expect(again.id).not.toBe(start!.id);
    const got = await receiver.until(3);
    const same = got.filter(({ headers }) => headers["webhook-id"] === start!.event.id);
    expect(same).toHaveLength(2);
    expect(same[1]!.text).toBe(same[0]!.text);
    expect((await tried()).map(({ status }) => status)).toEqual(["DELIVERED", "DELIVERED", "DELIVERED"]);
  });

  test("of another organization, or an unknown one, is not sent again", async () => {
    await trial();
    const [delivery] = await tried();
    const other = await running.otherOrganization();
    for (const [api, wanted] of [
      [other.api, delivery!.id],
      [running.api, UNKNOWN_ID],
    ] as const)
      expect((await api.gqlError(REDELIVER, { id: wanted })).extensions.code).toBe("DELIVERY_NOT_FOUND");
    expect(receiver.received).toHaveLength(1);
  });

  test("fails after eight attempts, is not retried, and can be sent again", async () => {
    receiver.answer((res) => void res.writeHead(500).end());
    await trial();
    for (let times = 1; times < 8; times++) {
      expect(await tried(times)).toMatchObject([
        { status: "PENDING", nextAttemptAt: expect.stringMatching(/Z$/) },
      ]);
      await due();
    }
    const [failed] = await tried(8);
    expect(failed).toMatchObject({ status: "FAILED", nextAttemptAt: null });
    expect(failed!.attempts.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const bytes = new Set(receiver.received.map(({ text }) => text));
    expect([receiver.received.length, bytes.size]).toEqual([8, 1]);
    receiver.answer((res) => void res.end("ok"));
    await running.api.gql(REDELIVER, { id: failed!.id });
    expect((await receiver.until(9))[8]!.text).toBe([...bytes][0]);
  });
});

describe("a destination that only fails", () => {
  /** Pretends that it failed this often, first this many days ago. */
  const failed = (times: number, days: number) =>
    running.database.query(
      "update webhook_destinations set failures = $2, failing_since = now() - $3 * interval '1 day' where id = $1",
      [id, times, days],
    );

  test("begins to count again if an attempt of before its PATCH fails after it", async () => {
    let answer = (): void => undefined;
    receiver.answer((res) => void (answer = () => res.writeHead(500).end()));
    await failed(18, 6);
    await trial();
    await receiver.until(1);
    await running.api.patch(`/rest/v1/settings/${id}`, { url: receiver.url }, 200);
    answer();
    await tried();
    const recent =
      "select failures from webhook_destinations where id = $1 and failing_since > now() - interval '1 minute'";
    await until(async () => (await running.database.query(recent, [id])).length === 1);
    expect(await running.database.query(recent, [id])).toEqual([{ failures: 1 }]);
  });

  test("gets nothing that was stored while it was being disabled", async () => {
    await trial();
    await tried();
    const { query } = running.database;
    await query("update webhook_destinations set enabled = false where id = $1", [id]);
    // Requests that have read before that it is enabled.
    await query(
      `insert into deliveries (organization_id, id, event_id, destination_id)
       select organization_id, 'late', event_id, destination_id from deliveries where destination_id = $1`,
      [id],
    );
    await queueAll(running.database);
    await until(async () => (await destination()).deliveries.every(({ status }) => status !== "PENDING"));
    const late = await query(
      "select status, attempts -> 0 ->> 'error' as error from deliveries where id = 'late'",
    );
    expect(late).toEqual([{ status: "FAILED", error: "Not sent: the webhook destination was disabled." }]);
    expect(receiver.received).toHaveLength(1);
  });

  test("is disabled after 20 failures in five days, and gets nothing more until a PATCH", async () => {
    receiver.answer((res) => void res.writeHead(500).end());
    await failed(19, 5.01);
    await trial();
    await until(async () => (await tried())[0]!.status === "FAILED");
    expect((await destination()).enabled).toBe(false);
    const assistantId = await quietAssistant(running.api);
    await newChat(running.api, assistantId);
    await running.api.patch(`/rest/v1/settings/${id}`, { name: "mended" }, 200);
    receiver.answer((res) => void res.end("ok"));
    const chatId = await newChat(running.api, assistantId);
    const { events } = await running.api.gql(
      "query ($chatId: ID!) { events(filter: { chatId: $chatId }) { nodes { id } } }",
      { chatId },
    );
    const sent = (await receiver.until(3)).slice(1).map(({ headers }) => headers["webhook-id"]);
    expect(sent.sort()).toEqual(events.nodes.map((event: { id: string }) => event.id).sort());
  });

  test.each([
    ["eighteen earlier failures", 18, 6],
    ["less than five days", 40, 4.9],
  ])("stays enabled with %s", async (_what, times, days) => {
    receiver.answer((res) => void res.writeHead(500).end());
    await failed(times, days);
    await trial();
    expect(await tried()).toMatchObject([{ status: "PENDING" }]);
    expect((await destination()).enabled).toBe(true);
  });

  test("starts counting failures again after one success", async () => {
    await failed(40, 4.9);
    await trial();
    await tried();
    receiver.answer((res) => void res.writeHead(500).end());
    await running.database.query(
      `update webhook_destinations set failing_since = ${earlier("failing_since", "interval '1 day'")}`,
    );
    await trial();
    await receiver.until(2);
    await until(async () => (await destination()).deliveries[0]!.attempts.length > 0);
    expect((await destination()).enabled).toBe(true);
  });
});

test("a new secret signs x-signature at once; webhook-signature also has the former one for a day", async () => {
  await running.api.patch(`/rest/v1/settings/${id}`, { secret: "second" }, 200);
  const signedBy = async (number: number): Promise<string[]> => {
    await trial();
    const { headers, text } = (await receiver.until(number))[number - 1]!;
    expect(headers["x-signature"]).toBe(hmac("second", text, "hex"));
    const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${text}`;
    const names = ["first", "second"].map((secret) => [`v1,${hmac(secret, signed, "base64")}`, secret]);
    return String(headers["webhook-signature"])
      .split(" ")
      .map((signature) => new Map(names as [string, string][]).get(signature) ?? "?");
  };
  expect(await signedBy(1)).toEqual(["second", "first"]);
  await running.api.patch(`/rest/v1/settings/${id}`, { secret: "second" }, 200); // no change
  expect(await signedBy(2)).toEqual(["second", "first"]);
  await running.database.query(
    `update webhook_destinations set former_secret_until = ${earlier("former_secret_until", "interval '1 day'")}`,
  );
  expect(await signedBy(3)).toEqual(["second"]);
});

test("a secret that keys:rotate re-encrypts while it is changed stays re-encrypted as the former one", async () => {
  const client = new pg.Client({ connectionString: running.database.ownerUrl });
  await client.connect();
  const { crypto } = running.app.database.scope("").ports;
  const [row] = await running.database.query<{ organization: string }>(
    "select organization_id as organization from webhook_destinations where id = $1",
    [id],
  );
  const sealed = crypto.seal("first", `${row!.organization}/webhook_destinations/${id}`);
  await client.query("begin");
  await client.query("update webhook_destinations set sealed_secret = $1 where id = $2", [sealed, id]);
  const changed = running.api.patch(`/rest/v1/settings/${id}`, { secret: "second" }, 200);
  await until(() => someoneWaits(running.database, "%webhook_destinations%"));
  await client.query("commit");
  await client.end();
  expect(await changed).toHaveProperty("secret", "second");
  const former = "select former_sealed_secret as former from webhook_destinations where id = $1";
  expect(await running.database.query(former, [id])).toEqual([{ former: sealed }]);
});

test("gets its events if a destination of another organization has its id", async () => {
  const { api } = await running.otherOrganization();
  const theirs = await new Receiver().start();
  const input = { id, url: theirs.url, secret: "theirs" };
  await (
    await importerOf(api)
  ).gql(
    "mutation ($input: ImportWebhookDestinationInput!) { importWebhookDestination(input: $input) { id } }",
    {
      input,
    },
  );
  for (const [client, { received }, words] of [
    [running.api, receiver, "first"],
    [api, theirs, "second"],
    [running.api, receiver, "third"],
  ] as const) {
    await say(client, await newChat(client, await quietAssistant(client)), words);
    await until(() => received.some(({ text }) => text.includes(words)));
  }
  expect(theirs.received.filter(({ text }) => /first|third/.test(text))).toEqual([]);
  expect(receiver.received.filter(({ text }) => text.includes("second"))).toEqual([]);
  await api.delete(`/rest/v1/settings/${id}`, 200);
  await theirs.stop();
});
