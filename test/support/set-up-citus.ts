import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type * as distributeModule from "../../src/platform/database/distributed/distribute";
import type * as rolesModule from "../../src/platform/database/upgrades/roles";
import type * as prepareModule from "../../src/start/prepare";
import { createCluster, hasCitus, queryAt, startCitus } from "./citus";
import { configOf } from "./config";
import { APP_ROLE, JOBS_ROLE, TEMPLATE } from "./database";

/** Starts a Citus cluster with a distributed template database, to run the tests on it. @param built loads the service */
export async function setUpCitus(built: NodeJS.Require): Promise<void> {
  if (!hasCitus())
    throw new Error(
      "Set CITUS_BIN to the programs of a PostgreSQL with Citus: test/citus/build.sh makes one.",
    );
  const { prepare } = built("./prepare") as typeof prepareModule;
  const { distribute } = built("../platform/database/distributed/distribute") as typeof distributeModule;
  const { creation, grants, userOf } = built("../platform/database/upgrades/roles") as typeof rolesModule;
  const cluster = await startCitus();
  const dataDir = mkdtempSync(join(tmpdir(), "parley-test-"));
  const template = await createCluster(cluster, TEMPLATE);
  await prepare(configOf({ DATA_DIR: dataDir }), template);
  await distribute(template, { waitMs: 0, migration: "distribution" });
  const roles = { owner: userOf(template), serving: APP_ROLE, jobs: JOBS_ROLE };
  for (const text of [creation(APP_ROLE, APP_ROLE), creation(JOBS_ROLE, JOBS_ROLE), ...grants(roles)])
    await queryAt(template, text);
  process.env.TEST_POSTGRES = cluster.coordinator.url;
  process.env.TEST_CITUS_WORKERS = cluster.workers.map(({ url }) => url).join(" ");
  const stopTestPostgres = async () => {
    await cluster.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  Object.assign(globalThis, { stopTestPostgres });
}
