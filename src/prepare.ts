import { seedTemplates } from "./assistants/seed";
import type { Config } from "./config";
import { Database } from "./database/database";
import { newId } from "./database/ids";
import { migrate } from "./database/migrate";
import { prepareVectors } from "./database/vectors";
import { installJobs } from "./jobs/install";
import { createOrganization, defaultOrganizationId, type NewOrganization } from "./organization/bootstrap";
import { Keys } from "./organization/keys";
import { offlinePorts } from "./ports/offline";

/**
 * Migrates the database, makes room for vectors where it can keep them, brings its templates up to date and makes the default organization where there is none.
 * Refuses ENCRYPTION_KEYS that do not open what is stored, where no credential would be found and no secret could be read.
 * @returns the default organization with its keys when it was made just now
 */
export async function prepare(config: Config, url: string): Promise<NewOrganization | undefined> {
  let made: NewOrganization | undefined;
  await migrate(url, async (knex) => {
    await installJobs(url);
    await prepareVectors(knex);
    const database = new Database(knex, offlinePorts(config));
    await seedTemplates(database.scope(""));
    const known = await defaultOrganizationId(database.scope(""));
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
