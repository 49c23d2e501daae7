import { beforeAll, describe, expect, test } from "@jest/globals";
import pg from "pg";
import { databaseAt, queryAt, rowsAt, type CitusNode } from "../support/citus";
import { afterTest, SERVER_TIMEOUT_MS } from "../support/server";
import { until } from "../support/until";
import { post } from "./poster";
import { createWorld, workerOf, type Organization, type World } from "./world";

const TIMEOUT_MS = 4 * SERVER_TIMEOUT_MS;
/** Shards that Citus has begun to make, or has yet to remove. */
const UNFINISHED = "select from pg_dist_cleanup";

let world: World;
let organization: Organization;
beforeAll(async () => {
  world = await createWorld();
  [organization] = world.organizations;
}, TIMEOUT_MS);

const at = ({ url }: CitusNode) => databaseAt(url, "parley");
const rowsOf = async (text: string) => (await world.database.query<{ value: string }>(text)).rows;

/** Waits until nothing of an earlier statement is left. */
const cleaned = () => until(async () => (await rowsOf(UNFINISHED)).length === 0);

/** The shard of a table that has the organization's rows. */
async function shardOf(table: string): Promise<string> {
  const text = `select get_shard_id_for_distribution_column('${table}', '${organization.id}') as value`;
  return (await rowsOf(text))[0]!.value;
}

/** The worker with the organization's rows, and the other one. */
async function places(): Promise<{ from: CitusNode; to: CitusNode }> {
  const [first, second] = world.cluster.workers as [CitusNode, CitusNode];
  const isFirst = (await workerOf(world.database, organization.id)) === first.port;
  return isFirst ? { from: first, to: second } : { from: second, to: first };
}

async function session(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  afterTest(() => client.end().catch(() => undefined));
  return client;
}

/** Starts a statement on the coordinator that is not awaited. @returns its end, and a function that kills its client */
async function started(text: string) {
  const client = await session(at(world.cluster.coordinator));
  const ended = client.query(text).then(
    () => "done",
    (error: Error) => error.message,
  );
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection;
  return { ended, kill: () => stream.destroy() };
}

async function restart(node: CitusNode): Promise<void> {
  await node.kill();
  await node.start();
}

/** Posts messages during the work; expects all that were accepted, and each once. */
async function whilePosting(work: () => Promise<void>): Promise<void> {
  const posting = await post(organization);
  await posting.more();
  await work();
  await posting.more();
  await posting.end();
  expect(posting.refused.filter((status) => status !== 503)).toEqual([]);
}

describe("an organization is put into shards of its own", () => {
  const isolate = () =>
    `select isolate_tenant_to_new_shard('chats', '${organization.id}', 'CASCADE', shard_transfer_mode => 'block_writes')`;

  /** Starts it; it waits with new shards, before it copies messages. */
  async function held() {
    await cleaned();
    const holder = await session(at((await places()).from));
    await holder.query("set citus.enable_manual_changes_to_shards = on");
    await holder.query(`begin; lock table messages_${await shardOf("messages")} in access exclusive mode`);
    const statement = await started(isolate());
    await until(async () => (await rowsOf(UNFINISHED)).length > 0);
    return { ...statement, goOn: () => holder.end() };
  }

  test.each(["worker", "coordinator"] as const)(
    "not at all if its %s is killed, and nothing is lost",
    async (killed) => {
      await whilePosting(async () => {
        const shard = await shardOf("chats");
        const { ended, goOn } = await held();
        await restart(killed === "worker" ? (await places()).from : world.cluster.coordinator);
        await goOn();
        expect(await ended).not.toBe("done");
        expect(await shardOf("chats")).toBe(shard);
      });
    },
    TIMEOUT_MS,
  );

  test(
    "although the client of a second statement is killed; a third one says that it is done",
    async () => {
      await whilePosting(async () => {
        const shard = await shardOf("chats");
        const { kill, goOn } = await held();
        kill();
        await goOn();
        await until(async () => (await shardOf("chats")) !== shard);
        await expect(rowsOf(isolate())).rejects.toThrow("has already been isolated");
      });
    },
    TIMEOUT_MS,
  );
});

describe("an organization moves to another worker", () => {
  const move = async (from: CitusNode, to: CitusNode) =>
    `select citus_move_shard_placement(${await shardOf("chats")}, '127.0.0.1', ${from.port}, '127.0.0.1', ${to.port}, 'block_writes')`;

  /** Starts it; it waits for the new worker to store the first rows. */
  async function held(from: CitusNode, to: CitusNode) {
    await cleaned();
    const set = async (change: string) => {
      await queryAt(at(to), `alter system ${change}`);
      await queryAt(at(to), "select pg_reload_conf()");
    };
    await set("set synchronous_standby_names = 'nobody'");
    const statement = await started(await move(from, to));
    const waits = "select from pg_stat_activity where wait_event = 'SyncRep'";
    await until(
      async () => (await rowsOf(UNFINISHED)).length > 0 && (await rowsAt(at(to), waits)).length > 0,
    );
    return { ...statement, goOn: () => set("reset synchronous_standby_names") };
  }

  test.each(["old worker", "new worker", "coordinator", "client"] as const)(
    "by a second statement if the %s is killed, and nothing is lost",
    async (killed) => {
      await whilePosting(async () => {
        const { from, to } = await places();
        const { ended, kill, goOn } = await held(from, to);
        if (killed === "client") kill();
        else
          await restart(
            { "old worker": from, "new worker": to, coordinator: world.cluster.coordinator }[killed],
          );
        await goOn();
        expect(await ended).not.toBe("done");
        await cleaned();
        await queryAt(at(world.cluster.coordinator), await move(from, to));
        expect((await places()).from).toBe(to);
      });
    },
    TIMEOUT_MS,
  );

  test("and leaves no shards behind", async () => {
    await cleaned();
    const [placed] = await rowsOf(
      "select count(*)::text as value from citus_shards where table_name = 'messages'::regclass",
    );
    let found = 0;
    for (const node of world.cluster.workers) {
      const client = await session(at(node));
      await client.query("set citus.override_table_visibility = off");
      const shards = String.raw`select from pg_class where relname ~ '^messages_\d+$'`;
      found += (await client.query(shards)).rowCount!;
    }
    expect(String(found)).toBe(placed!.value);
  });
});
