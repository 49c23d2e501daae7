// Ends with 1 and says what to do if CITUS_BIN does not lead to a PostgreSQL with Citus.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const { CITUS_BIN } = process.env;
const reason = CITUS_BIN === undefined || CITUS_BIN === "" ? "CITUS_BIN is not set" : problemOf(CITUS_BIN);
if (reason !== undefined) {
  console.error(
    `${reason}. Build PostgreSQL 15 with Citus 13 by \`test/citus/build.sh SOURCE PREFIX\`, and set CITUS_BIN to the folder that it prints.`,
  );
  process.exit(1);
}

function problemOf(folder) {
  const config = join(folder, "pg_config");
  if (!existsSync(join(folder, "initdb")) || !existsSync(config))
    return `CITUS_BIN (${folder}) has no initdb and pg_config`;
  const shared = execFileSync(config, ["--sharedir"], { encoding: "utf8" }).trim();
  return existsSync(join(shared, "extension/citus.control"))
    ? undefined
    : `The PostgreSQL in CITUS_BIN (${folder}) has no Citus`;
}
