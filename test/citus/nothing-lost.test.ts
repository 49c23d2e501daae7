import { beforeAll, describe, expect, test } from "@jest/globals";
import { Api } from "../support/api";
import { databaseAt, queryAt, rowsAt } from "../support/citus";
import { newChat, say } from "../support/factories";
import { emptyFolder, SERVER_TIMEOUT_MS, startServer } from "../support/server";
import { until } from "../support/until";
import { post, type Poster } from "./poster";
import { createWorld, workerOf, type World } from "./world";

const TIMEOUT_MS = 4 * SERVER_TIMEOUT_MS;
/** Posters of each organization, and kills of the coordinator: with several, it ends at different moments of a statement. */
const POSTERS = 3;
const KILLS = 3;

describe("nothing that was accepted is lost", () => {
  let world: World;
  beforeAll(async () => void (world = await createWorld()), TIMEOUT_MS);

  /** Waits until no node has a transaction that is prepared and not committed. */
  const settled = () =>
    until(async () => {
      const nodes = world.cluster.nodes.map(({ url }) => databaseAt(url, "parley"));
      const left = await Promise.all(nodes.map((url) => rowsAt(url, "select gid from pg_prepared_xacts")));
      return left.flat().length === 0;
    });

  test(
    "when a worker is killed; others are not interrupted",
    async () => {
      const [first, second] = world.organizations;
      const [away, living] = [await post(first), await post(second)];
      await Promise.all([away.more(), living.more()]);
      await world.cluster.workers[0]!.kill();
      await until(() => away.refused.length >= 5);
      await living.more();
      await world.cluster.workers[0]!.start();
      await Promise.all([away.more(), living.more()]);
      await Promise.all([away.end(), living.end()]);
      expect(away.refused.filter((status) => status !== 503)).toEqual([]);
      expect(living.refused).toEqual([]);
      await settled();
    },
    TIMEOUT_MS,
  );

  test(
    "when the coordinator is killed",
    async () => {
      const { cluster, organizations } = world;
      const posters: Poster[] = [];
      for (let count = 0; count < POSTERS; count++)
        for (const organization of organizations) posters.push(await post(organization));
      for (let kills = 0; kills < KILLS; kills++) {
        await Promise.all(posters.map((poster) => poster.more()));
        const refused = posters.map((poster) => poster.refused.length);
        await cluster.coordinator.kill();
        await until(() => posters.every((poster, index) => poster.refused.length >= refused[index]! + 5));
        await cluster.coordinator.start();
      }
      await Promise.all(posters.map((poster) => poster.more()));
      await Promise.all(posters.map((poster) => poster.end()));
      expect(posters.flatMap(({ refused }) => refused).filter((status) => status !== 503)).toEqual([]);
      await settled();
    },
    TIMEOUT_MS,
  );

  test(
    "when a server is killed",
    async () => {
      const [organization] = world.organizations;
      const server = await startServer({ ...world.env, DATA_DIR: emptyFolder() });
      const posting = await post(organization, new Api(server.url, organization.api.headers));
      await posting.more();
      await server.end("SIGKILL");
      await until(() => posting.refused.includes(0));
      await posting.end();
      await settled();
    },
    TIMEOUT_MS,
  );

  test(
    "when a job is taken before its worker has committed what the job is about",
    async () => {
      const { cluster, database, organizations } = world;
      const [{ id, api, assistantId }] = organizations;
      const chatId = await newChat(api, assistantId);
      const answers = async () => {
        const { chat } = await api.gql("query ($id: ID!) { chat(id: $id) { messages(last: 9) { role } } }", {
          id: chatId,
        });
        return (chat.messages as { role: string }[]).filter(({ role }) => role === "ASSISTANT").length;
      };
      await say(api, chatId, "Anyone?", "USER");
      await until(async () => (await answers()) === 1);
      const { rows } = await database.query<{ shard: string }>(
        "select get_shard_id_for_distribution_column('chats', $1::text) as shard",
        [id],
      );
      const url = databaseAt(cluster.workers[0]!.url, "parley");
      const unanswered = `update chats_${rows[0]!.shard} set answered_sequence = 0 where id = '${chatId}'`;
      await queryAt(url, `begin; ${unanswered}; prepare transaction 'late'`);
      await database.query("select parley_enqueue('chat.turn', $1::json, null, null, null, 6)", [
        JSON.stringify({ organizationId: id, chatId }),
      ]);
      const isTaken =
        "select from graphile_worker.jobs where task_identifier = 'chat.turn' and locked_at is null";
      await until(async () => (await database.query(isTaken)).rowCount === 0);
      await queryAt(url, "commit prepared 'late'");
      await until(async () => (await answers()) === 2);
    },
    TIMEOUT_MS,
  );

  test(
    "when an organization moves to a worker of its own while it is used",
    async () => {
      const { cluster, database, organizations } = world;
      const [organization] = organizations;
      const posting = await post(organization);
      await posting.more();
      const { rows } = await database.query<{ shard: string }>(
        "select isolate_tenant_to_new_shard('chats', $1::text, 'CASCADE', shard_transfer_mode => 'block_writes') as shard",
        [organization.id],
      );
      const [from, to] = cluster.workers.map(({ port }) => port);
      await database.query(
        "select citus_move_shard_placement($1, '127.0.0.1', $2, '127.0.0.1', $3, 'block_writes')",
        [rows[0]!.shard, from, to],
      );
      expect(await workerOf(database, organization.id)).toBe(to);
      await posting.more();
      await posting.end();
      expect(posting.refused.filter((status) => status !== 503)).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
