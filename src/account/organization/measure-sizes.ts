import type { Database } from "../../platform/database/database";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";

/** Rows measured by one statement. */
const BATCH_SIZE = 5_000;
/** Statements for one organization before the next organization is measured. */
const MAX_STATEMENTS = 100;
/** After this time the rest is left to the next run, because other jobs wait. */
const MAX_RUN_MS = 20_000;

/** Progress of the measurement of an organization. */
interface Measurement {
  /** Tables left to measure; the first one is in progress. */
  readonly tables: readonly string[];
  /** Primary key of the last measured row of the first table. */
  readonly behind: readonly string[] | null;
  readonly bytes: number;
}

/** Result of one statement: number of rows, their bytes, and the primary key of the last row as JSON. */
interface BatchResult {
  readonly found: number;
  readonly bytes: number;
  readonly last: string | null;
}

/** Measures the stored bytes of organizations: large ones every few minutes, others every hour. */
export async function measureSizes(database: Database): Promise<void> {
  const startedAt = performance.now();
  const { storedBytes } = database.scope("").ports.quotas;
  const tables = await database.tenantTables();
  let left = await database.unmeasured(Math.floor(storedBytes / 4));
  while (left.length > 0) {
    const more: string[] = [];
    for (const id of left) {
      if (performance.now() - startedAt > MAX_RUN_MS) return;
      if (await measure(database.scope(id), tables)) more.push(id);
    }
    left = more;
  }
}

/** Measures one organization. @returns whether something is left to measure */
async function measure(scope: Scope, tables: readonly string[]): Promise<boolean> {
  await scope.insert("stored_sizes", {}).onConflict("organizationId").ignore();
  const [row] = await scope.write(START_MEASUREMENT);
  let progress = row?.walk ?? { tables, behind: null, bytes: 0 };
  for (
    let statement = 0;
    progress.tables.length > 0 && (statement < MAX_STATEMENTS || !canPause(progress));
    statement++
  )
    progress = await next(scope, progress);
  if (progress.tables.length > 0) await scope.write(PAUSE_MEASUREMENT, [JSON.stringify(progress)]);
  else await scope.write(FINISH_MEASUREMENT, [progress.bytes]);
  return progress.tables.length > 0;
}

const ID = /^[\da-f-]{36}$/;

/** Only generated ids are stored as progress: other primary keys can be personal data, such as a phone number. */
const canPause = ({ behind }: Measurement): boolean => behind === null || behind.every((key) => ID.test(key));

async function next(scope: Scope, { tables, behind, bytes }: Measurement): Promise<Measurement> {
  const [name, ...left] = tables;
  const [row] = await scope.read(MEASURE, [name, behind, BATCH_SIZE]);
  const { found, last, bytes: size } = row!.measured; // the function returns one row
  const sum = bytes + size;
  return found === BATCH_SIZE && last !== null
    ? { tables, behind: JSON.parse(last) as string[], bytes: sum }
    : { tables: left, behind: null, bytes: sum };
}

const MEASURE = statement<{ measured: BatchResult }>(({ db }) =>
  db.raw("select row_to_json(parley_measure($1, $2, $3::text[], $4)) as measured"),
);

/** Resets `grown` at the start: rows written during the measurement are added to its result. */
const START_MEASUREMENT = statement<{ walk: Measurement | null }>(({ db }) =>
  db.raw(`
  update stored_sizes set grown = case when walk is null then 0 else grown end
  where stored_sizes.organization_id = $1 returning walk`),
);

const PAUSE_MEASUREMENT = statement(({ db }) =>
  db.raw(`update stored_sizes set walk = $2::jsonb where stored_sizes.organization_id = $1`),
);

const FINISH_MEASUREMENT = statement(({ db }) =>
  db.raw(`
  update stored_sizes set bytes = $2::bigint + grown, grown = 0, walk = null, measured_at = now()
  where stored_sizes.organization_id = $1`),
);
