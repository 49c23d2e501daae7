import type { Knex } from "knex";
import type { Logger } from "pino";
import { seedTemplates } from "../assistants/configurations/seed";
import type { Config } from "../platform/settings/config";
import { Database } from "../platform/database/database";
import { refuseUnfinished } from "../platform/database/connections/holds";
import { keepDistributed, withoutWorkers } from "../platform/database/distributed/distribute";
import { keepRights } from "../platform/database/upgrades/roles";
import { refuseOtherDatabases } from "../platform/database/connections/same-database";
import { newId } from "../platform/database/values/ids";
import { migrate, type Patiently } from "../platform/database/upgrades/migrate";
import { prepareVectors } from "../platform/database/upgrades/vectors";
import { installJobs } from "../platform/jobs/install";
import { createOrganization, type NewOrganization } from "../account/organization/bootstrap";
import { Keys } from "../account/organization/keys";
import { offlinePorts } from "../platform/providers/offline";

/**
 * Migrates the database, creates vector columns if the database supports them, updates the templates and creates the
 * default organization if there is none. Refuses ENCRYPTION_KEYS that cannot decrypt the stored data, and URLs that lead
 * to different databases.
 * @param restoring true while a restore prepares the loaded database, which is otherwise refused until the restore
 * has finished
 * @param checkFitness throws if the server cannot run, before keys are created that would never be shown
 * @param logger gets a line for each time that a migration has waited for a lock in vain
 * @returns the default organization with its keys, if it was created
 */
export async function prepare(
  config: Config,
  url: string,
  restoring = false,
  checkFitness: () => Promise<void> = () => Promise.resolve(),
  logger?: Pick<Logger, "warn">,
): Promise<NewOrganization | undefined> {
  if (!restoring) await refuseOtherDatabases(config);
  let created: NewOrganization | undefined;
  const afterwards = async (knex: Knex, patiently: Patiently) => {
    if (!restoring) await refuseUnfinished(knex);
    await patiently("graphile-worker", (waiting) => installJobs(url, waiting));
    await patiently("passage_embeddings", (waiting) => prepareVectors(knex, waiting));
    const database = new Database(knex, offlinePorts(config));
    await withoutWorkers(url, logger, async () => {
      await patiently("distribution", (waiting) => keepDistributed(url, waiting));
      await patiently("database roles", (waiting) => keepRights(knex, config, waiting));
      await seedTemplates(database.scope(""));
    });
    await checkFitness();
    const known = await database.defaultOrganizationId();
    if (known !== undefined) return withoutWorkers(url, logger, () => database.scope(known).of(Keys).check());
    created = await createOrganization(database.scope(newId()), {
      name: "Default organization",
      isDefault: true,
      secretKey: config.BOOTSTRAP_SECRET_KEY,
      publicKey: config.BOOTSTRAP_PUBLIC_KEY,
    });
  };
  await migrate(url, afterwards, { logger });
  return created;
}
