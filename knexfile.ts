import { readConfig } from "./src/platform/settings/config";
import { migrationSource } from "./src/platform/database/upgrades/migrate";

/** For Knex's own command line, against the database that DATABASE_URL names. */
const config = {
  client: "pg",
  connection: readConfig(process.env).DATABASE_URL,
  migrations: { migrationSource },
};

export default config;
