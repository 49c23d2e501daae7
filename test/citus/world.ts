import pg from "pg";
import type { Api } from "../support/api";
import { createCluster, startCitus, type CitusCluster, type CitusNode } from "../support/citus";
import { quietAssistant } from "../support/factories";
import { Receiver } from "../support/receiver";
import {
  afterTests,
  emptyFolder,
  runToEnd,
  SETTINGS,
  startServer,
  type Env,
  type ServerProcess,
} from "../support/server";
import { stubModel } from "../support/stub-model";

/** An organization of the cluster, with an assistant and a destination of webhooks. */
export interface Organization {
  readonly id: string;
  readonly api: Api;
  readonly assistantId: string;
  readonly receiver: Receiver;
}

/** A cluster whose data survives a crash, with a server and an organization on each worker. */
export interface World {
  readonly cluster: CitusCluster;
  /** Connection to the coordinator. */
  readonly database: pg.Pool;
  readonly env: Env;
  readonly server: ServerProcess;
  /** The organizations on the first and on the second worker. */
  readonly organizations: readonly [Organization, Organization];
}

export async function createWorld(): Promise<World> {
  const cluster = await startCitus(2, { synchronous_commit: "on", "citus.recover_2pc_interval": "2s" });
  afterTests(() => cluster.stop());
  const url = await createCluster(cluster, "parley");
  const model = await stubModel({ text: ["An ", "answer."] });
  afterTests(model.stop);
  const env = {
    ...SETTINGS,
    DATABASE_URL: url,
    OUTBOUND_ALLOW: "127.0.0.0/8",
    TAKEOVER_SECONDS: "2",
    OPENAI_API_KEY: "sk-test-1234",
    OPENAI_BASE_URL: model.url,
    DATA_DIR: emptyFolder(afterTests),
  };
  const { code, stderr } = await runToEnd("cli/distribute", env);
  if (code !== 0) throw new Error(stderr);
  const server = await startServer(env, afterTests);
  const database = new pg.Pool({ connectionString: url, max: 2 });
  database.on("error", () => undefined);
  afterTests(() => database.end());
  const [first, second] = cluster.workers as [CitusNode, CitusNode];
  const organizations = [
    await organizationOn(first, { database, env, server }),
    await organizationOn(second, { database, env, server }),
  ] as const;
  return { cluster, database, env, server, organizations };
}

/** The port of the worker that has an organization's rows. */
export async function workerOf(database: pg.Pool, organizationId: string): Promise<number> {
  const { rows } = await database.query<{ nodeport: number }>(
    `select nodeport::integer from pg_dist_shard_placement
     where shardid = get_shard_id_for_distribution_column('chats', $1::text)`,
    [organizationId],
  );
  return rows[0]!.nodeport;
}

/** Creates organizations until one is on the worker. */
async function organizationOn(
  { port }: CitusNode,
  { database, env, server }: Pick<World, "database" | "env" | "server">,
): Promise<Organization> {
  for (;;) {
    const { stdout } = await runToEnd("cli/org-create", env, "--name", `Worker ${port}`);
    const { organizationId: id, secretKey } = JSON.parse(stdout) as Record<string, string>;
    if ((await workerOf(database, id!)) !== port) continue;
    const api = server.api.as({ "X-API-Key": secretKey! });
    const receiver = await new Receiver().start();
    afterTests(() => receiver.stop());
    await api.gql(
      `mutation ($input: CreateWebhookDestinationInput!) { createWebhookDestination(input: $input) { id } }`,
      { input: { url: receiver.url, secret: "s" } },
    );
    return { id: id!, api, receiver, assistantId: await quietAssistant(api) };
  }
}
