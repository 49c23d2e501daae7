import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import { DeliveryQueues, type ClaimedQueue } from "../../src/events/webhooks/queues";
import type { Api } from "../support/api";
import { startApp, useApp } from "../support/app";
import { someoneWaits } from "../support/database";
import { endChat, newChat, quietAssistant, say } from "../support/factories";
import { Receiver } from "../support/receiver";
import { afterTest } from "../support/server";
import { until } from "../support/until";

/** Accepts requests. The tests start the server that sends. */
const running = useApp({ WORKER: "off" });
const sender = async () => afterTest((await startApp(running.database, { WORKER: "on" })).stop);

let receiver: Receiver;
let destinationId: string;
let assistantId: string;
beforeEach(async () => {
  receiver = await new Receiver().start();
  afterTest(() => receiver.stop());
  const { api } = running;
  ({ id: destinationId } = await api.post("/rest/v1/settings", { url: receiver.url, secret: "s" }, 201));
  afterTest(() => api.delete(`/rest/v1/settings/${destinationId}`, 200));
  assistantId = await quietAssistant(api);
});

const query = <R extends object>(text: string) => running.database.query<R>(text, [destinationId]);
const queues = () =>
  query<{ chat_id: string; delivery_id: string; claim: string | null; isDue: boolean }>(
    `select chat_id, delivery_id, claim, due_at <= now() as "isDue" from delivery_queues where destination_id = $1
     order by chat_id, delivery_id`,
  );
/** Removes what a server of an older version would not have stored. */
const forgetQueues = () => query("delete from delivery_queues where destination_id = $1");
const pending = () => query("select id from deliveries where destination_id = $1 and status = 'PENDING'");
const ids = () => receiver.received.map(({ headers }) => String(headers["webhook-id"]));
const stored = async () =>
  (
    await query<{ event_id: string }>(
      "select event_id from deliveries where destination_id = $1 order by event_id",
    )
  ).map(({ event_id }) => event_id);

/** A chat with these messages. Its first two events are its beginning and its status. */
async function chatWith(...words: string[]): Promise<string> {
  const chatId = await newChat(running.api, assistantId);
  for (const word of words) await say(running.api, chatId, word);
  return chatId;
}

/** Holds the answers. @returns lets them go */
function hold() {
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  receiver.answer((res) => void held.then(() => res.end("ok")));
  afterTest(() => letGo());
  return () => letGo();
}

describe("the queue of a conversation", () => {
  test("is one row, whatever waits in it, and is removed when all has been delivered", async () => {
    const chatId = await chatWith("one", "two", "three");
    expect(await queues()).toEqual([{ chat_id: chatId, delivery_id: "", claim: null, isDue: true }]);
    await sender();
    await until(async () => (await queues()).length === 0);
    expect(ids()).toEqual(await stored());
    expect(await pending()).toEqual([]);
  });

  test("longer than what is sent at once is sent in order", async () => {
    await chatWith(...Array.from({ length: 40 }, (_, number) => `message ${number}`));
    await sender();
    await until(async () => (await queues()).length === 0);
    expect(ids()).toEqual(await stored());
  });

  test("keeps an event that is added while the one before is being sent", async () => {
    let letGo = (): void => undefined;
    receiver.answer((res) => void (letGo = () => res.end("ok")));
    const chatId = await chatWith();
    await sender();
    await receiver.until(1);
    await say(running.api, chatId, "meanwhile");
    const [queue] = await queues();
    expect(queue).toMatchObject({ chat_id: chatId, claim: expect.any(String), isDue: false });
    receiver.answer((res) => void res.end("ok"));
    letGo();
    await until(async () => (await queues()).length === 0);
    expect(ids()).toEqual(await stored());
  });
});

describe("a delivery that failed", () => {
  const fail = () => receiver.answer((res) => void res.writeHead(500).end());

  test("has a queue of its own until its retry, and the rest of the conversation overtakes it", async () => {
    fail();
    const chatId = await chatWith();
    await sender();
    await until(async () => {
      const left = await queues();
      return left.length === 2 && left.every(({ delivery_id }) => delivery_id !== "");
    });
    const failed = await query<{ id: string }>(
      "select id from deliveries where destination_id = $1 order by id",
    );
    expect(await queues()).toEqual(
      failed.map(({ id }) => ({ chat_id: "", delivery_id: id, claim: null, isDue: false })),
    );
    receiver.answer((res) => void res.end("ok"));
    await say(running.api, chatId, "later");
    await receiver.until(1, ({ text }) => text.includes("later"));
    expect(receiver.received).toHaveLength(3);
    await until(async () => (await queues()).length === 0);
    expect(await pending()).toEqual([]);
  });

  test("does not hold up the conversation while its retry hangs", async () => {
    fail();
    const chatId = await chatWith();
    await sender();
    await until(async () => (await queues()).filter(({ delivery_id }) => delivery_id !== "").length === 2);
    receiver.answer((res, { text }) => void (text.includes("meanwhile") && res.end("ok")));
    await receiver.until(3);
    await say(running.api, chatId, "meanwhile");
    await receiver.until(1, ({ text }) => text.includes("meanwhile"));
  });
});

const DESTINATION = `mutation ($projectId: ID, $url: String!) {
  createWebhookDestination(input: { projectId: $projectId, url: $url, secret: "s" }) { id } }`;
const MOVE = `mutation ($id: ID!, $projectId: ID) { updateAssistant(id: $id, input: { projectId: $projectId }) { id } }`;

describe("a server that knows the receiver as quick and has room for more", () => {
  /** Starts a server whose last delivery was quick. @param before what it does first @returns its interface */
  async function quickSender(before?: (api: Api) => Promise<void>) {
    const { api, stop } = await startApp(running.database, { WORKER: "on" });
    afterTest(stop);
    await before?.(api);
    const chatId = await newChat(api, assistantId);
    await until(async () => (await queues()).length === 0 && receiver.received.length === 2);
    return { api, chatId };
  }
  /** Whether the deliveries that wait were begun by the transaction that stored their event, in the order of the events. */
  const begunAtOnce = async () =>
    (
      await query<{ atOnce: boolean }>(
        `select d.xmin = e.xmin and d.attempt = 1 as "atOnce" from deliveries d
         join events e on e.organization_id = d.organization_id and e.id = d.event_id
         where d.destination_id = $1 and d.status = 'PENDING' order by d.event_id`,
      )
    ).map(({ atOnce }) => atOnce);

  /**
   * Says something whose delivery is begun at once, again if the server was just looking for others or a busy machine made
   * the receiver slow. @returns lets go of the delivery
   */
  const sayAtOnce = (api: Api, chatId: string) =>
    until(async () => {
      const letGo = hold();
      await say(api, chatId, "one");
      if ((await begunAtOnce())[0]) return letGo;
      letGo();
      await until(async () => (await queues()).length === 0);
      return undefined;
    });

  test("begins a delivery in the transaction that stores its event, and takes the queue", async () => {
    const { api, chatId } = await quickSender();
    const letGo = await sayAtOnce(api, chatId);
    expect(await begunAtOnce()).toEqual([true]);
    expect(await queues()).toEqual([
      { chat_id: chatId, delivery_id: "", claim: expect.stringMatching(/./), isDue: false },
    ]);
    letGo();
    await until(async () => (await queues()).length === 0);
    expect(await pending()).toEqual([]);
    expect(ids()).toEqual(await stored());
  });

  test("keeps the order of a conversation: what follows waits for the delivery before", async () => {
    const { api, chatId } = await quickSender();
    const letGo = await sayAtOnce(api, chatId);
    for (const word of ["two", "three"]) await say(api, chatId, word);
    expect(await begunAtOnce()).toEqual([true, false, false]);
    expect(receiver.received.filter(({ text }) => /two|three/.test(text))).toEqual([]);
    letGo();
    await until(async () => (await queues()).length === 0);
    expect(ids()).toEqual(await stored());
  });

  test("does not overtake what another server has stored in the conversation", async () => {
    const { api, chatId } = await quickSender();
    const letGo = hold();
    await say(running.api, chatId, "one");
    await say(api, chatId, "two");
    expect(await begunAtOnce()).toEqual([false, false]);
    letGo();
    await until(async () => (await queues()).length === 0);
    expect(ids()).toEqual(await stored());
  });

  test("gives the room back when nothing is stored", async () => {
    const { api, chatId } = await quickSender();
    const over = await newChat(api, assistantId);
    await endChat(api, over);
    await until(async () => (await queues()).length === 0);
    const message = { aiChatId: over, role: "ASSISTANT", channel: "TEXT", content: "late", metadata: {} };
    for (let n = 0; n < 40; n++) await api.post("/rest/v1/ai-chats/messages", message, 409);
    const letGo = await sayAtOnce(api, chatId);
    letGo();
    await until(async () => (await queues()).length === 0);
  });

  test("takes no room for destinations that do not get the event, however many there are", async () => {
    const others = await new Receiver().start();
    afterTest(() => others.stop());
    const { api, chatId } = await quickSender(async (api) => {
      const { createProject } = await api.gql(`mutation { createProject(input: { name: "Other" }) { id } }`);
      const projectId = createProject.id as string;
      for (let n = 0; n < 8; n++) {
        const made = await api.gql(DESTINATION, { projectId, url: others.url });
        afterTest(() => running.api.delete(`/rest/v1/settings/${made.createWebhookDestination.id}`, 200));
      }
      const id = await quietAssistant(api);
      await api.gql(MOVE, { id, projectId });
      await newChat(api, id);
      await others.until(2 * 8);
    });
    const letGo = await sayAtOnce(api, chatId);
    letGo();
    await until(async () => (await queues()).length === 0);
  });

  test("sends each event to the address that the destination had when it was stored", async () => {
    const { api, chatId } = await quickSender();
    const second = await new Receiver().start();
    afterTest(() => second.stop());
    for (const [word, place] of [
      ["one", receiver],
      ["two", second],
      ["three", receiver],
      ["four", second],
    ] as const) {
      await api.patch(`/rest/v1/settings/${destinationId}`, { url: place.url }, 200);
      await say(api, chatId, word);
      await place.until(1, ({ text }) => text.includes(word));
    }
  });

  test("leaves the delivery to another server when it is killed during the attempt", async () => {
    const { api, chatId } = await quickSender();
    await sayAtOnce(api, chatId);
    await until(async () => ids().length === (await stored()).length); // the last attempt is under way, too
    // As a server that ended: nobody renews the claim.
    await query(
      "update delivery_queues set due_at = now(), claim = 'of a dead server' where destination_id = $1",
    );
    await query(
      "update deliveries set claimed_until = now() where destination_id = $1 and status = 'PENDING'",
    );
    receiver.answer((res) => void res.end("ok"));
    await until(async () => (await pending()).length === 0);
    expect(
      (await query("select attempt from deliveries where destination_id = $1 order by event_id")).at(-1),
    ).toEqual({
      attempt: 2,
    });
  });
});

describe("a receiver that was quick and hangs for many conversations", () => {
  const begun = () =>
    query(
      "select id from deliveries where destination_id = $1 and claimed_until is not null and attempts = '[]'",
    );

  /** Waits until as many deliveries have been sent as may be, and more have been begun. */
  async function hang() {
    const { stop } = await startApp(running.database, { WORKER: "on" });
    const { length } = await stored();
    await chatWith();
    await until(async () => receiver.received.length === length + 2 && (await queues()).length === 0);
    const letGo = hold();
    await Promise.all(Array.from({ length: 40 }, () => chatWith()));
    await until(async () => (await begun()).length > 16);
    expect(receiver.received).toHaveLength(2 + 16);
    return { stop, letGo };
  }

  test("has 16 requests at once, and gets the others later, each in its first attempt", async () => {
    const { stop, letGo } = await hang();
    await sleep(1_000); // a quick receiver would have answered
    letGo();
    await until(async () => (await queues()).length === 0);
    await stop();
    expect(ids().sort()).toEqual((await stored()).sort());
    const numbers = await query(
      "select attempts -> 0 -> 'number' as number, attempt from deliveries where destination_id = $1",
    );
    expect(numbers).toEqual(numbers.map(() => ({ number: 1, attempt: 1 })));
  });

  test("gets the others from another server, without a wait for claims to expire, when this one stops", async () => {
    const { stop, letGo } = await hang();
    const stopped = stop();
    await until(async () => (await begun()).length === 16);
    receiver.answer((res) => void res.end("ok"));
    await sender();
    await until(async () => (await queues()).length === 16);
    letGo();
    await stopped;
    await until(async () => (await queues()).length === 0);
    expect(ids().sort()).toEqual((await stored()).sort());
  });
});

describe("a worker that has begun a delivery", () => {
  const LEASE_MS = 60_000;
  const ofOrganization = async () => {
    const { id } = await running.api.get("/rest/v1/organization", 200);
    return running.app.database.scope(id).of(DeliveryQueues);
  };
  const entry = { number: 1, status: 500, error: null, answer: "", startedAt: new Date().toISOString() };

  test("records a result once, even if it repeats it because the answer of the database was lost", async () => {
    await chatWith("one");
    const queuesOf = await ofOrganization();
    const [queue] = await queuesOf.claim(destinationId, 1, LEASE_MS);
    const { id, attempt } = queue!.first!;
    const result = {
      id,
      attempt,
      status: "PENDING",
      entry: [{ ...entry, durationMs: 5 }],
      pauseMs: 5_000,
      body: null,
    } as const;
    const step = { queue: queue!, result, continues: false, releases: true };
    expect((await queuesOf.advance([step], LEASE_MS))[0]!.status).toBe("PENDING");
    expect((await queuesOf.advance([step], LEASE_MS))[0]!.status).toBeUndefined();
    expect(
      await query(
        "select attempts -> 1 as second from deliveries where destination_id = $1 and attempts <> '[]'",
      ),
    ).toEqual([{ second: null }]);
  });

  test("renews its claim of the delivery before that of the queue, as results are recorded", async () => {
    await chatWith("one");
    const queuesOf = await ofOrganization();
    const [{ first, ...queue }] = (await queuesOf.claim(destinationId, 1, LEASE_MS)) as [ClaimedQueue];
    const other = new Client({ connectionString: running.database.ownerUrl });
    await other.connect();
    await other.query("begin");
    const { id: organizationId } = await running.api.get("/rest/v1/organization", 200);
    const lock = "select from deliveries where organization_id = $1 and id = $2 for update";
    await other.query(lock, [organizationId, first!.id]);
    const renewed = queuesOf.renew([{ ...queue, id: first!.id, attempt: first!.attempt }], LEASE_MS);
    await until(() => someoneWaits(running.database));
    const own =
      "select chat_id from delivery_queues where organization_id = $1 and destination_id = $2 and claim = $3 for update nowait";
    expect((await other.query(own, [organizationId, destinationId, queue.claim])).rowCount).toBe(1);
    await other.query("commit");
    await other.end();
    await renewed;
  });
});

test("an event that is erased while its delivery waits for its place is not sent", async () => {
  const held: (() => void)[] = [];
  const letGo = () => held.splice(0).forEach((answer) => answer());
  afterTest(letGo);
  // Quick for two requests, then fifteen hang, and the others have one place left.
  receiver.answer((res, _, number) => {
    const answer = () => void res.end("ok");
    if (number > 2 && number <= 17) held.push(answer);
    else setTimeout(answer, number <= 2 ? 0 : 500);
  });
  const ended = async () => {
    const id = await chatWith();
    await endChat(running.api, id);
    return id;
  };
  const chats = await Promise.all(Array.from({ length: 40 }, ended));
  await sender();
  await receiver.until(2 + 16);
  const ofChats = () => new Set(receiver.received.map(({ headers }) => String(headers["webhook-chat-id"])));
  const waiting = chats.filter((id) => !ofChats().has(id)).slice(0, 12);
  const removal =
    "mutation ($assistantId: ID!, $id: ID!) { deleteLog(assistantId: $assistantId, id: $id) { id } }";
  await Promise.all(waiting.map((id) => running.api.gql(removal, { assistantId, id })));
  const sent = ofChats();
  const erased = waiting.filter((id) => !sent.has(id));
  receiver.answer((res) => void res.end("ok"));
  await until(async () => (await queues()).length === held.length);
  letGo();
  expect(erased.length).toBeGreaterThan(2);
  // The one that had the place while it was erased may have been on its way.
  expect(erased.filter((id) => ofChats().has(id)).length).toBeLessThanOrEqual(1);
});

describe("what a server of an older version has stored, which knows no queues,", () => {
  test("is sent before what a new one stores in the same conversation", async () => {
    const chatId = await chatWith("one", "two");
    await forgetQueues();
    await say(running.api, chatId, "three");
    await sender();
    await until(async () => (await pending()).length === 0);
    expect(ids()).toEqual(await stored());
  });

  test("is sent when nothing else is stored", async () => {
    await chatWith("one", "two");
    await chatWith("three");
    await forgetQueues();
    await sender();
    await until(async () => (await pending()).length === 0);
    expect(ids().sort()).toEqual(await stored());
  });

  test("is sent at once after its notification", async () => {
    await sender();
    const chatId = await chatWith("one");
    await until(async () => (await pending()).length === 0);
    // As an older server: an event and its delivery in one transaction with a notification, but no queue.
    await running.database.query(
      `with event as (
        insert into events (organization_id, id, name, type, assistant_id, chat_id, body, chat_sequence)
        select organization_id, 'f-old', name, type, assistant_id, chat_id, body, 100 from events where chat_id = $2 and body is not null limit 1
        returning organization_id, id, chat_id
      ), sent as (
        insert into deliveries (organization_id, id, event_id, destination_id, chat_id, chat_sequence)
        select organization_id, id, id, $1, chat_id, 100 from event returning organization_id
      )
      select pg_notify('parley_deliveries', json_build_object('organizationId', organization_id, 'destinationId', $1::text)::text)
      from sent`,
      [destinationId, chatId],
    );
    await receiver.until(1, ({ headers }) => headers["webhook-id"] === "f-old");
  });

  test("is retried when it is due", async () => {
    const failed = `update deliveries set attempt = 1, attempts = '[{"number": 1}]', next_attempt_at = now() + $2::interval
      where destination_id = $1`;
    await chatWith();
    await running.database.query(failed, [destinationId, "1 second"]);
    await forgetQueues();
    await sender();
    await until(async () => (await pending()).length === 0);
    expect(ids().sort()).toEqual(await stored());
    await until(async () => (await queues()).length === 0);
  });

  test("holds up its conversation while that server is sending it", async () => {
    await chatWith("one");
    const [first] = await stored();
    const take = `update deliveries set attempt = 1, claimed_until = now() + interval '3 seconds' where event_id = $1`;
    await running.database.query(take, [first]);
    await sender();
    const taken = "select from deliveries where event_id = $1 and claimed_until > now()";
    await until(async () => {
      const isTaken = (await running.database.query(taken, [first])).length > 0;
      if (isTaken) expect(ids()).toEqual([]);
      return (await pending()).length === 0;
    });
    expect(ids()).toEqual(await stored());
  });
});
