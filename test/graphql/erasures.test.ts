import { beforeAll, describe, expect, test } from "@jest/globals";
import { Idempotency } from "../../src/account/organization/idempotency";
import { digestsIn, eraseAgain, type BackedUpErasure } from "../../src/privacy/erasure/erase-again";
import { settle } from "../../src/privacy/erasure/settle";
import { useApp } from "../support/app";
import { earlier } from "../support/earlier";
import { place, NUMBER, FAST, ended } from "../support/calls";
import { askToForget, erased, forget, receiptOf } from "../support/erasures";
import { endChat, newAssistant, newChat, quietAssistant, say } from "../support/factories";
import { until } from "../support/until";

const running = useApp(FAST);
let assistantId: string;
beforeAll(async () => {
  assistantId = await quietAssistant(running.api);
});

let people = 0;
const newName = () => `person-${++people}-of-erasures`;
const CHATS = "query ($id: ID!) { assistant(id: $id) { chats(first: 100) { nodes { id } } } }";
const chatIds = async (): Promise<string[]> =>
  (await running.api.gql(CHATS, { id: assistantId })).assistant.chats.nodes.map(
    ({ id }: { id: string }) => id,
  );
const count = async (table: string, chatId: string): Promise<number> => {
  const text = `select count(*)::int as count from ${table} where chat_id = $1`;
  return (await running.database.query<{ count: number }>(text, [chatId]))[0]!.count;
};

test("a caller with an id of 4,096 characters is forgotten, and nobody whose id starts the same", async () => {
  const names = ["a", "b"].map((end) => "ü".repeat(4095) + end);
  const known = async (id?: string) =>
    (await running.api.gql("query ($id: String!) { endUser(uniqueId: $id) { id } }", { id })).endUser;
  for (const userId of names) {
    const id = await place(running.api, assistantId, NUMBER.answers, { userId });
    await ended(running.api, id);
    expect(await known(userId)).not.toBeNull();
  }
  expect(await forget(running, { userId: names[0]! })).toMatchObject({ matched: 1, chats: 1 });
  expect(await known(names[0])).toBeNull();
  expect(await known(names[1])).not.toBeNull();
});

describe("the person to forget", () => {
  const people: [string, object][] = [
    ["no identifier", {}],
    ["two identifiers", { uniqueId: "a", userId: "b" }],
    ["an empty text", { phoneNumber: "" }],
  ];
  test.each(people)("cannot be identified by %s", async (_, person) => {
    const document = `mutation ($uniqueId: String, $userId: String, $phoneNumber: String) {
      forgetEndUser(uniqueId: $uniqueId, userId: $userId, phoneNumber: $phoneNumber) { id } }`;
    const error = await running.api.gqlError(document, { ...person });
    expect(error.extensions.code).toBe("BAD_USER_INPUT");
    expect(error.message).toContain("exactly one of uniqueId, userId, anonymousId, phoneNumber");
  });

  test("is erased with live and ended chats, and nobody else is", async () => {
    const { api } = running;
    const [uniqueId, other] = [newName(), newName()];
    const gone = [
      await newChat(api, assistantId, { uniqueId, userId: "u", metadata: { order: 7 } }),
      await newChat(api, assistantId, { uniqueId }),
    ];
    const kept = await newChat(api, assistantId, { uniqueId: other });
    for (const id of [...gone, kept]) await say(api, id, "Some words");
    await endChat(api, gone[1]!);
    const asked = await askToForget(running, { uniqueId });
    expect(asked).toMatchObject({
      subject: "UNIQUE_ID",
      status: "PENDING",
      matched: 2,
      chats: 0,
      messages: 0,
    });
    const receipt = await erased(running, asked.id);
    expect(receipt).toMatchObject({ chats: 2, messages: 2, finishedAt: expect.any(String) });
    expect(receipt.events).toBeGreaterThan(4);
    const left = await chatIds();
    expect(left).toContain(kept);
    for (const id of gone) {
      expect(left).not.toContain(id);
      for (const table of ["messages", "events", "deliveries"]) expect(await count(table, id)).toBe(0);
      await api.get(`/rest/v1/assistants/${assistantId}/log/${id}`, 404);
    }
    expect(await count("messages", kept)).toBe(1);
    const known = await api.gql("query ($id: String!) { endUser(uniqueId: $id) { id } }", { id: uniqueId });
    expect(known.endUser).toBeNull();
  });

  const identifiers = ["uniqueId", "userId", "anonymousId", "phoneNumber"] as const;
  test.each(identifiers)("is found in calls by %s", async (kind) => {
    const value = kind === "phoneNumber" ? NUMBER.answers : newName();
    const id = await place(running.api, assistantId, NUMBER.answers, {
      ...(kind === "uniqueId" ? { userId: value } : kind !== "phoneNumber" && { [kind]: value }),
      metadata: { order: "secret words" },
    });
    await ended(running.api, id);
    await until(async () => (await count("conversation_facts_kept", id)) >= 0);
    const receipt = await forget(running, { [kind]: value });
    expect(receipt.chats).toBeGreaterThanOrEqual(1);
    expect(receipt.recordings).toBeGreaterThanOrEqual(1);
    for (const table of ["messages", "events", "calls", "call_lookup", "engine_callbacks"])
      expect([table, await count(table, id)]).toEqual([table, 0]);
  });

  test("is also erased from the answer of a request that still runs", async () => {
    const { api, app, database } = running;
    const uniqueId = newName();
    await newChat(api, assistantId, { uniqueId });
    const { id: organizationId } = await api.get("/rest/v1/organization", 200);
    let answer: (() => void) | undefined;
    const request = { key: `of ${uniqueId}`, content: {}, waits: true };
    const answered = app.database
      .scope(organizationId)
      .of(Idempotency)
      .once(
        request,
        () =>
          new Promise(
            (resolve) => (answer = () => resolve({ status: 200, body: { uniqueId }, disclosed: [] })),
          ),
        { caller: undefined, source: { interface: "REST" }, isDraining: () => false },
      );
    await until(() => Promise.resolve(answer !== undefined));
    const looks = async () =>
      Number(
        (
          await database.query<{ looks: string }>(
            "select seq_scan + idx_scan as looks from pg_stat_user_tables where relname = 'idempotency_claims'",
          )
        )[0]!.looks,
      );
    const before = await looks();
    const { id } = await askToForget(running, { uniqueId });
    // More than the request itself has made, which statistics may count late.
    await until(async () => (await looks()) > before + 10);
    expect((await receiptOf(running, id)).status).toBe("RUNNING");
    answer!();
    await answered;
    await erased(running, id);
    expect(await database.query("select from idempotency_keys where key like $1", [`%${uniqueId}`])).toEqual(
      [],
    );
  });

  test("is also erased from the keys of requests that they made, however short their name is", async () => {
    const { api, database } = running;
    const { token } = await api.post("/rest/v1/organization/token", { userId: "bo" }, 200);
    const byUser = api.as({ Authorization: `Bearer ${token}` });
    await byUser.post("/rest/v1/assistants", { name: "Desk" }, 200, { "Idempotency-Key": "first" });
    const kept = () => database.query("select from idempotency_keys where key like '%\"bo\"%'");
    expect(await kept()).toHaveLength(1);
    await forget(running, { userId: "bo" });
    expect(await kept()).toEqual([]);
  });

  test("is not erased if they return after the request", async () => {
    const { api } = running;
    const uniqueId = newName();
    await newChat(api, assistantId, { uniqueId });
    const { id } = await askToForget(running, { uniqueId });
    const later = await newChat(api, assistantId, { uniqueId });
    expect(await erased(running, id)).toMatchObject({ chats: 1 });
    expect(await chatIds()).toContain(later);
  });
});

describe("receipts", () => {
  test("are listed newest first and name nobody", async () => {
    const names = [newName(), newName()];
    const ids: string[] = [];
    for (const userId of names) ids.unshift((await forget(running, { userId })).id);
    const { nodes } = (await running.api.gql("{ erasures(first: 2) { nodes { id subject status } } }"))
      .erasures;
    expect(nodes).toEqual(ids.map((id) => ({ id, subject: "USER_ID", status: "DONE" })));
    const stored = await running.database.query("select * from erasures");
    for (const name of names) expect(JSON.stringify(stored)).not.toContain(name);
    expect(stored.map(({ sealed_target }) => sealed_target as unknown)).toContain(null);
  });

  test("are hidden from other organizations", async () => {
    const { id } = await forget(running, { userId: newName() });
    const other = await running.otherOrganization();
    const error = await other.api.gqlError("query ($id: ID!) { erasure(id: $id) { id } }", { id });
    expect(error.extensions.code).toBe("ERASURE_NOT_FOUND");
  });
});

test("anonymous counts stay, without a link to the person", async () => {
  const other = await running.otherOrganization();
  const app = { api: other.api };
  const theirs = await newAssistant(other.api);
  const uniqueId = newName();
  const chats = [
    await newChat(other.api, theirs, { uniqueId }),
    await newChat(other.api, theirs, { uniqueId }),
  ];
  for (const id of chats) {
    await say(other.api, id, "What do you know?", "USER");
    await endChat(other.api, id, `because of ${uniqueId}`);
  }
  const DAY = 86_400_000;
  const at = (days: number) => new Date(Date.now() + days * DAY).toISOString();
  const ANALYTICS = `query ($from: DateTime!, $to: DateTime!) { analytics(input: { from: $from, to: $to }) { totals { conversations messages } endReasons { reason conversations } } }`;
  const numbers = async () =>
    (await other.api.gql(ANALYTICS, { from: at(-1), to: at(1) })).analytics as {
      endReasons: object[];
    };
  const before = await numbers();
  await forget(app, { uniqueId });
  expect(await numbers()).toEqual({ ...before, endReasons: [{ reason: "other", conversations: 2 }] });
  const kept = await running.database.query("select * from conversation_facts_kept");
  for (const text of [...chats, uniqueId]) expect(JSON.stringify(kept)).not.toContain(text);
});

test("an erasure interrupted by a crash is continued", async () => {
  const { database, api } = running;
  const uniqueId = newName();
  await newChat(api, assistantId, { uniqueId });
  const { id } = await askToForget(running, { uniqueId });
  await erased(running, id);
  // State after an early crash: the erasure has started and its work is recorded, but no job runs.
  await newChat(api, assistantId, { uniqueId });
  await database.query(
    `update erasures set status = 'RUNNING', until = now(), worked_at = now() - interval '1 hour',
       sealed_target = $2 where id = $1`,
    [id, await sealedLike(uniqueId, id)],
  );
  await database.query("select graphile_worker.add_job('erasure.resume')");
  expect(await erased(running, id)).toMatchObject({ chats: 2 });
  expect((await receiptOf(running, id)).status).toBe("DONE");
});

async function sealedLike(value: string, id: string): Promise<string> {
  const { organizationId } = (
    await running.database.query<{ organizationId: string }>(
      `select organization_id as "organizationId" from erasures where id = $1`,
      [id],
    )
  )[0]!;
  const { crypto } = running.app.database.scope(organizationId).ports;
  return crypto.seal(JSON.stringify({ kind: "uniqueId", value }), `${organizationId}/erasures/${id}`);
}

describe("after a restore", () => {
  test("people whose digests are in a backup are erased again, except for data newer than their erasure", async () => {
    const { api, database } = running;
    const other = await running.otherOrganization();
    const [uniqueId, userId, stays] = [newName(), newName(), newName()];
    for (const person of [{ uniqueId }, { userId }]) await forget(running, person);
    const restored = [
      await newChat(api, assistantId, { uniqueId }),
      await newChat(api, assistantId, { userId }),
      await newChat(api, assistantId, { uniqueId: stays }),
    ];
    await database.query(
      `update chats set started_at = ${earlier("started_at", "interval '1 day'")} where id = any($1)`,
      [restored],
    );
    const later = await newChat(api, assistantId, { uniqueId });
    const theirs = await newChat(other.api, await newAssistant(other.api), { uniqueId });
    const { id: organizationId } = await api.get("/rest/v1/organization", 200);
    const service = running.app.database;
    const digests = digestsIn(
      await database.query<BackedUpErasure & Record<string, unknown>>(
        `select e.organization_id as "organizationId", subject, digest, sealed_erasure_key as "sealedKey", until::text as until
         from erasures e join organizations o on o.id = e.organization_id
         where digest is not null and e.organization_id = $1`,
        [organizationId],
      ),
    );
    expect(JSON.stringify(digests)).not.toContain(uniqueId);
    expect(await eraseAgain(service, digests)).toBeGreaterThanOrEqual(2); // includes people of other tests
    await until(
      async () => (await database.query("select from erasures where status <> 'DONE'")).length === 0,
    );
    const rows = await database.query<{ id: string }>("select id from chats where id = any($1) order by id", [
      [...restored, later, theirs],
    ]);
    expect(rows.map(({ id }) => id)).toEqual([restored[2], later, theirs]);
  });
});

test("an erasure is not done while records of the person are left, even if a provider has deleted all of its own", async () => {
  const { organizationId } = await running.otherOrganization();
  const target =
    "insert into erasures (organization_id, id, subject, status, sealed_target) values ($1, 'half', 'USER_ID', 'RUNNING', 'x')";
  await running.database.query(target, [organizationId]);
  const statusOf = async () =>
    (await running.database.query<{ status: string }>("select status from erasures where id = 'half'"))[0]!
      .status;
  const scope = running.app.database.scope(organizationId);
  await settle(scope, "half");
  expect(await statusOf()).toBe("RUNNING");
  await running.database.query("update erasures set sealed_target = null where id = 'half'");
  await settle(scope, "half");
  expect(await statusOf()).toBe("DONE");
});
