import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { sequence } from "../../src/events/events/sequencer";
import { deliveryChanges } from "../../src/events/webhooks/delivery-changes";
import { Deliveries } from "../../src/events/webhooks/deliveries";
import { DeliveryQueues, type ClaimedQueue } from "../../src/events/webhooks/queues";
import { connect } from "../../src/platform/database/connections/connect";
import { Database } from "../../src/platform/database/database";
import type { Scope } from "../../src/platform/database/scope";
import { DELIVERY_POOL } from "../../src/start/start-background";
import { useApp } from "../support/app";
import { nodesOf, pagesOf, planOf, statementsOf, unchecked } from "../support/plans";

/** Without a worker, so that nothing is delivered. */
const running = useApp({ WORKER: "off" });

/** Deliveries that another destination got long ago. */
const OLD = 40_000;
/** Conversations with a new destination, which is not in the statistics yet, and the deliveries that wait in each. */
const CHATS = 60;
const OF_CHAT = 50;
const LEASE_MS = 60_000;
/** Queues that are claimed at once. */
const QUEUES = 8;

let organization: string;

const query = <R extends object>(text: string) => running.database.query<R>(text);

const fill = (text: string) => query(unchecked(text));

/** @param place of the events in the ledger: none, or a number */
const events = (prefix: string, count: number, chat: string, place: string) => `
  insert into events (organization_id, id, name, type, assistant_id, chat_id, chat_sequence, body, transaction)
  select '${organization}', '${prefix}-' || lpad(n::text, 9, '0'), 'session-start', 'TEXT', 'none', ${chat}, n, '{}', ${place}
  from generate_series(1, ${count}) n`;

const deliveries = (prefix: string, destination: string, status: string) => `
  insert into deliveries (organization_id, id, event_id, destination_id, chat_id, chat_sequence, status, attempts)
  select '${organization}', id, id, '${destination}', chat_id, chat_sequence, '${status}',
    case when '${status}' = 'PENDING' then '[]' else '[{"number": 1}]' end::jsonb
  from events where id like '${prefix}-%'`;

beforeAll(async () => {
  const [row] = await query<{ id: string }>("select id from organizations limit 1");
  organization = row!.id;
  await fill(
    `${events("old", OLD, "'old-' || n % 1000", "(n + 2)::text::xid8")}; ${deliveries("old", "old", "DELIVERED")}`,
  );
  for (const table of ["deliveries", "delivery_queues"]) await query(`vacuum analyze ${table}`);
  await query(`insert into webhook_destinations (organization_id, id, url, sealed_secret)
    select '${organization}', id, 'https://example.com', '' from unnest(array['old', 'new']) id`);
  await fill(
    `${events("new", CHATS * OF_CHAT, `'new-' || n % ${CHATS}`, "null")}; ${deliveries("new", "new", "PENDING")};
     insert into delivery_queues (organization_id, destination_id, chat_id)
     select '${organization}', 'new', 'new-' || n from generate_series(0, ${CHATS - 1}) n`,
  );
});

describe("beside many old deliveries, few rows are read", () => {
  const pooled = process.env.TEST_POOLER === "1";
  const knex = () =>
    connect(running.database.url, { ...DELIVERY_POOL, rowSecurity: true, pooled, prepares: !pooled });
  let pool: ReturnType<typeof knex> | undefined;
  afterAll(() => pool?.destroy());

  /** Runs something with the connections of deliveries. @returns the rows of deliveries that it has read */
  async function rowsRead(work: (scope: Scope) => Promise<unknown>): Promise<number> {
    pool ??= knex();
    const { ports } = running.app.database as unknown as {
      ports: ConstructorParameters<typeof Database>[1];
    };
    return new Database(pool, ports).transaction(async (database, trx) => {
      await work(database.scope(organization));
      const { rows } = await trx.raw<{ rows: [{ read: string }] }>(
        "select seq_tup_read + idx_tup_fetch as read from pg_stat_xact_user_tables where relname = 'deliveries'",
      );
      return Number(rows[0].read);
    });
  }

  let claimed: readonly ClaimedQueue[] = [];

  test("to claim queues", async () => {
    const read = await rowsRead(async (scope) => {
      claimed = await scope.of(DeliveryQueues).claim("new", QUEUES, LEASE_MS);
    });
    expect(claimed.filter(({ first }) => first?.event.name === "session-start")).toHaveLength(QUEUES);
    expect(read).toBeLessThan(10 * QUEUES);
  });

  test("to look whether a delivery is still begun", async () => {
    const { id, attempt } = claimed[0]!.first!;
    const read = await rowsRead(async (scope) => {
      expect(await scope.of(Deliveries).isBegun({ id, attempt })).toBe(true);
    });
    expect(read).toBeLessThan(10 * QUEUES);
  });

  test("to abandon a delivery", async () => {
    const read = await rowsRead(async (scope) => {
      expect(await scope.of(Deliveries).abandon({ id: "new-000003000", attempt: 0 })).toBe(true);
    });
    expect(read).toBeLessThan(10 * QUEUES);
    await query("update deliveries set status = 'PENDING' where id = 'new-000003000'");
  });

  test("to record results and go on", async () => {
    const read = await rowsRead(async (scope) => {
      const steps = claimed.map((queue) => {
        const { id, attempt } = queue.first!;
        const entry = { number: 1, status: 200, error: null, answer: "", startedAt: "", durationMs: 1 };
        const result = {
          id,
          attempt,
          status: "DELIVERED",
          entry: [entry],
          pauseMs: null,
          body: null,
        } as const;
        return { queue, result, continues: true, releases: true };
      });
      const outcomes = await scope.of(DeliveryQueues).advance(steps, LEASE_MS);
      expect(outcomes.map(({ status, begun }) => [status, begun !== undefined])).toEqual(
        steps.map(() => ["DELIVERED", true]),
      );
    });
    expect(read).toBeLessThan(10 * QUEUES);
  });

  test("to give queues back", async () => {
    const read = await rowsRead((scope) =>
      scope.of(DeliveryQueues).advance(
        claimed.map((queue) => ({ queue, continues: false, releases: true })),
        LEASE_MS,
      ),
    );
    expect(read).toBeLessThan(10 * QUEUES);
  });

  test.each(["PENDING", "FAILED"] as const)("to list deliveries with the status %s", async (status) => {
    await query(`update deliveries set status = '${status}' where id in ('old-000000007', 'old-000031000')`);
    const read = await rowsRead(async (scope) => {
      const { nodes, count } = await scope.of(Deliveries).ofDestination("old", { first: 5 }, status);
      expect(nodes.map(({ id }) => id)).toEqual(["old-000031000", "old-000000007"]);
      expect(await count()).toBe(2);
    });
    expect(read).toBeLessThan(200);
  });
});

test.each(["new", null])(
  "a subscription begins with the newest of many pending deliveries (to: %s)",
  async (id) => {
    await query("update deliveries set created_at = now() - interval '1 minute'"); // none are new
    await query("vacuum analyze deliveries");
    const { database } = running.app;
    const following = async () => {
      const changes = await deliveryChanges(() => database.scope(organization), id);
      await changes.return();
    };
    const read = [];
    for (const statement of await statementsOf(database, /deliveries/, following))
      for (const node of nodesOf(await planOf(running.database, statement)))
        if (node["Relation Name"] === "deliveries")
          read.push(node["Actual Loops"] * (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)));
    expect(Math.max(...read)).toBeGreaterThanOrEqual(1_000);
    expect(Math.max(...read)).toBeLessThanOrEqual(1_100);
  },
);

test.each(["without", "with"])(
  "beside many old events, the sequencer reads each of those without a position twice, %s statistics",
  async (statistics) => {
    if (statistics === "with") await query("analyze events"); // a walk through all events seems short then
    const { database } = running.app;
    const sequencing = () => sequence(database.scope(organization));
    const [statement] = await statementsOf(database, /with head/, sequencing);
    // It has placed them, so they are taken out again for its explanation.
    await query("update events set transaction = null where id like 'new-%'");
    const scans = nodesOf(await planOf(running.database, statement!)).filter(
      (node) => node["Relation Name"] === "events" && node["Node Type"].endsWith("Scan"),
    );
    const read = scans.map(
      (node) => node["Actual Loops"] * (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)),
    );
    expect(Math.max(...read)).toBeGreaterThanOrEqual(2_000);
    expect(Math.max(...read)).toBeLessThanOrEqual(CHATS * OF_CHAT);
    const blocks = scans.map(pagesOf);
    expect(Math.max(...blocks)).toBeLessThanOrEqual(3 * CHATS * OF_CHAT);
  },
);
