import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { describeTables, type Column } from "../platform/database/tables/describe-tables";
import { startEmbedded } from "../platform/database/embedded/embedded";
import { migrate } from "../platform/database/upgrades/migrate";
import COMMANDS from "./commands.json";
import { parseArguments } from "./arguments";

/** `npm run rows`: migrates an empty database and generates the row types of its tables. */
async function run(): Promise<void> {
  parseArguments(COMMANDS["cli/rows"].usage, {});
  const dataDir = await mkdtemp(join(tmpdir(), "parley-rows-"));
  try {
    const embedded = await startEmbedded({ dataDir, log: () => undefined, flags: ["fsync=off"] });
    const client = new pg.Client({ connectionString: embedded.url });
    try {
      await migrate(embedded.url, () => Promise.resolve());
      await client.connect();
      const text = await describeTables(async (statement) => (await client.query<Column>(statement)).rows);
      await writeFile("src/platform/database/tables/tables.generated.ts", text);
    } finally {
      await client.end();
      await embedded.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

run().catch((error: unknown) => {
  console.error((error as Error).message);
  process.exitCode = 1;
});
