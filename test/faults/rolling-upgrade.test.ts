import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { migrations } from "../../src/platform/database/migrations";
import { Api } from "../support/api";
import { createCluster, queryAt } from "../support/citus";
import { SECRET_KEY } from "../support/config";
import { nodesOf } from "../support/database";
import {
  afterTest,
  emptyDatabase,
  emptyFolder,
  preparedDatabase,
  SERVER_TIMEOUT_MS,
  SETTINGS,
} from "../support/server";
import { until } from "../support/until";
import { Balancer } from "../upgrades/balancer";
import { Clients } from "../upgrades/clients";
import { dumped, readDump } from "../upgrades/dump";
import { checkOut, isHere, serve, thisVersion, type Server, type Version } from "../upgrades/version";

/** The newest version with an older schema, or that of UPGRADE_FROM. */
const { UPGRADE_FROM = lastWithOlderSchema() } = process.env;
const NAME = UPGRADE_FROM === undefined ? "this version, for lack of an earlier one," : UPGRADE_FROM;

/** The commit that its dump names. @returns undefined if Git does not have it */
function lastWithOlderSchema(): string | undefined {
  const newest = Object.keys(migrations).at(-1)!;
  const { commit } = readDump(dumped().findLast((migration) => migration < newest)!);
  if (isHere(commit)) return commit;
  console.warn(`Git does not have ${commit}, the newest version with an older schema: nothing is upgraded.`);
  return undefined;
}

/** An empty database; on Citus, one that the version has distributed over the nodes. */
async function databaseFor({ folder }: Version): Promise<string> {
  const { TEST_CITUS, TEST_POSTGRES } = process.env;
  if (TEST_CITUS === undefined) return emptyDatabase();
  const nodes = nodesOf(TEST_POSTGRES!).map((url) => ({ url, port: Number(new URL(url).port) }));
  const name = `upgrade_${Math.random().toString(36).slice(2)}`;
  const url = await createCluster({ nodes }, name);
  afterTest(async () => {
    for (const node of nodes) await queryAt(node.url, `drop database if exists ${name} with (force)`);
  });
  const options = { cwd: folder, env: { ...process.env, ...SETTINGS, DATABASE_URL: url } };
  const program = ["src/cli/launch.mjs", "cli/distribute"];
  const { stdout } = await promisify(execFile)(process.execPath, program, options);
  expect(stdout).toMatch(/^Distributed \d\d tables/m);
  return url;
}

/** Versions before SHUTDOWN_DELAY_SECONDS do not wait until the proxy has noticed that they stop. */
function waitsForProxies({ folder }: Version): boolean {
  const settings = join(folder, ".env.example");
  return existsSync(settings) && readFileSync(settings, "utf8").includes("SHUTDOWN_DELAY_SECONDS");
}

test(
  `two servers of ${NAME} behind a proxy are replaced one after another, and no request fails`,
  async () => {
    const older = UPGRADE_FROM === undefined ? thisVersion() : checkOut(UPGRADE_FROM);
    afterTest(() => older.remove());
    const database = UPGRADE_FROM === undefined ? preparedDatabase() : databaseFor(older);
    const settings = {
      ...SETTINGS,
      DATABASE_URL: await database,
      DATA_DIR: emptyFolder(),
      LOG_LEVEL: "error",
      SHUTDOWN_DELAY_SECONDS: "2",
    };
    const start = async (version: Version): Promise<Server> => {
      const server = await serve(version, settings);
      afterTest(() => server.stop());
      return server;
    };
    const balancer = new Balancer();
    afterTest(() => balancer.stop());
    const api = new Api(await balancer.start(), { "X-API-Key": SECRET_KEY });
    const first = await start(older);
    const servers = [first, await start(older)];
    for (const { url } of servers) balancer.add(url);

    const clients = new Clients(api, 20);
    afterTest(() => clients.stop());
    await clients.start();
    const more = async (count: number) => {
      const least = clients.answered + count;
      await until(() => clients.answered >= least || clients.failures.length > 0);
    };
    await more(50);
    for (const server of servers) {
      if (!waitsForProxies(older)) balancer.remove(server.url);
      await server.stop();
      balancer.remove(server.url);
      balancer.add((await start(thisVersion())).url);
      await more(50);
    }
    await clients.stop();
    expect(clients.failures).toEqual([]);
    if (process.env.UPGRADE_FROM !== undefined)
      console.log(`${clients.answered} answered, ${clients.refused} of them after 503`);
  },
  4 * SERVER_TIMEOUT_MS,
);
