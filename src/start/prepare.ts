import { seedTemplates } from "../assistants/configurations/seed";
import type { Config } from "../platform/settings/config";
import { Database } from "../platform/database/database";
import { refuseUnfinished } from "../platform/database/holds";
import { keepRights } from "../platform/database/roles";
import { newId } from "../platform/database/ids";
import { migrate } from "../platform/database/migrate";
import { prepareVectors } from "../platform/database/vectors";
import { installJobs } from "../platform/jobs/install";
import { createOrganization, type NewOrganization } from "../account/organization/bootstrap";
import { Keys } from "../account/organization/keys";
import { offlinePorts } from "../platform/providers/offline";

/**
 * Migrates the database, makes room for vectors where it can keep them, brings its templates up to date and makes the default organization where there is none.
 * Refuses ENCRYPTION_KEYS that do not open what is stored, where no credential would be found and no secret could be read.
 * @param restoring whether a restore prepares what it has loaded, which else is refused until it is finished
 * @param fit refuses what cannot serve, before keys are made that nobody would be shown
 * @returns the default organization with its keys when it was made just now
 */
export async function prepare(
  config: Config,
  url: string,
  restoring = false,
  fit: () => Promise<void> = () => Promise.resolve(),
): Promise<NewOrganization | undefined> {
  let made: NewOrganization | undefined;
  await migrate(url, async (knex) => {
    if (!restoring) await refuseUnfinished(knex);
    await installJobs(url);
    await prepareVectors(knex);
    await keepRights(knex, config);
    await fit();
    const database = new Database(knex, offlinePorts(config));
    await seedTemplates(database.scope(""));
    const known = await database.defaultOrganizationId();
    if (known !== undefined) return database.scope(known).of(Keys).check();
    made = await createOrganization(database.scope(newId()), {
      name: "Default organization",
      isDefault: true,
      secretKey: config.BOOTSTRAP_SECRET_KEY,
      publicKey: config.BOOTSTRAP_PUBLIC_KEY,
    });
  });
  return made;
}
