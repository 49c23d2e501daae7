import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startApp } from "../support/app";
import { createDatabase, type TestDatabase } from "../support/database";
import { runRemovals, runRequests, type Progress } from "../support/every-statement";
import { explainAll, hearPlans, type Explained } from "../support/explained";
import { fillLarge } from "../support/large-organization";
import { nodesOf, pagesOf, type PlanNode } from "../support/plans";
import { buildWorld, type World } from "../support/world";

/** Pages of 8 kB that a statement may read. A full read takes 500 of small tables, and more than 4,000 of large ones. */
const MOST_BUFFERS = 900;
/** Rows that a sequential scan may read: of the tables of an installation, such as organizations. */
const MOST_SCANNED = 1_000;

/** A statement that reads more, the reason, and the pages that it may read. */
interface Exception {
  readonly statement: RegExp;
  readonly most: number;
  readonly why: string;
}

/** Statements of the job queue, and those that read the catalog of PostgreSQL. */
const OF_PACKAGES = /graphile_worker|parley_enqueue|pg_class|pg_attribute/;

/** Read as much as is due, in batches of a fixed size: a row that changes takes up to 30 pages, because of its indexes. */
const BATCHES: readonly Exception[] = [
  { statement: /^ ?with head as/, most: 60_000, why: "gives up to 2,000 events their positions" },
  { statement: /parley_keep_facts|conversation_facts_kept/, most: 6_000, why: "measures up to 100 chats" },
  { statement: /^update "chats" set "recording_url"/, most: 5_000, why: "changes 100 chats" },
  {
    statement: /^delete from "sms_(received|threads)"/,
    most: 2_000,
    why: "removes 100 texts of a disconnected number",
  },
  { statement: /^\(select .*as stop|^select place/, most: 6_000, why: "searches up to 500 logs at a time" },
  {
    statement: /parley_measure|28 \+ coalesce\(pg_column_size/,
    most: 6_000,
    why: "measures up to 10,000 rows",
  },
  {
    statement: /^ ?with asked as .* renewed as/,
    most: 6_000,
    why: "renews the claims of all deliveries on their way",
  },
  {
    statement: /parley_repair_queues|^ ?with looked/,
    most: 30_000,
    why: "looks at 1,000 pending deliveries",
  },
];

/** Jump from organization to organization or from destination to destination, past rows that have just been removed. */
const SWEEPS: readonly Exception[] = [
  {
    statement:
      /parley_(due_queues|quiet_chats|uncounted_deliveries|unplaced_events)|^ ?with recursive (found|each)/,
    most: 3_000,
    why: "looks at each of a hundred organizations",
  },
];

/** Read what they count or sum. */
const TOTALS: readonly Exception[] = [
  {
    statement: /^select (".*" as "owner_id", )?count\(\*\) from/,
    most: 15_000,
    why: "a total that a client requests",
  },
  {
    statement: /^select count\(\*\) as files/,
    most: 1_000,
    why: "the files of an organization, near its quota",
  },
  { statement: /^ ?with excess as/, most: 1_500, why: "the versions of an organization, against its quota" },
];

const EXCEPTIONS = [...BATCHES, ...SWEEPS, ...TOTALS];

const scanned = (plan: PlanNode): string[] =>
  nodesOf(plan)
    .filter((node) => node["Node Type"] === "Seq Scan")
    .filter(
      (node) =>
        (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"] > MOST_SCANNED,
    )
    .map((node) => node["Relation Name"] ?? "");

/** Names the tables that a statement scans and the pages that it reads. @returns undefined if both are within bounds */
function problemOf({ text: written, parameters, plan }: Explained): object | undefined {
  const text = written.replace(/\s+/g, " ");
  if (OF_PACKAGES.test(text)) return undefined;
  const exception = EXCEPTIONS.find(({ statement }) => statement.test(text));
  const [pages, tables] = [pagesOf(plan), exception ? [] : scanned(plan)];
  if (pages <= (exception?.most ?? MOST_BUFFERS) && tables.length === 0) return undefined;
  return {
    text: text.slice(0, 1_000),
    parameters: parameters.slice(0, 300),
    pages,
    tables,
  };
}

/** Requests that this installation refuses. */
const REFUSED = [
  "POST /rest/v1/ai-chats: CHANNEL_DISABLED",
  "POST /webhooks/<telephony_provider>/intercept-sms: FORBIDDEN",
  "POST /webhooks/<telephony_provider>/sms-status: FORBIDDEN",
  "mutation startWidgetCall: CHANNEL_DISABLED",
  "mutation testFunction: FUNCTION_NOT_FOUND",
];

let database: TestDatabase;
let world: World;
let filling: Awaited<ReturnType<typeof startApp>>;

beforeAll(async () => {
  database = await createDatabase();
  filling = await startApp(database);
  world = await buildWorld(filling.api);
  await filling.api.gql("{ auditHead { position } }"); // gives the entries so far their positions
  const { id } = await filling.api.get("/rest/v1/organization", 200);
  await fillLarge(database, id, world);
}, 300_000);
afterAll(async () => {
  await filling.stop();
  await database.drop();
});

interface Mode {
  readonly planned: string;
  readonly setting: string;
  /** Whether it concerns a statement. */
  readonly concerns: (explained: Explained) => boolean;
  readonly removes: boolean;
}
const MODES: readonly Mode[] = [
  { planned: "planned for its values", setting: "force_custom_plan", concerns: () => true, removes: true },
  {
    planned: "kept by name and planned once for all values",
    setting: "force_generic_plan",
    concerns: ({ isPrepared }) => isPrepared,
    removes: false,
  },
];

describe.each(MODES)("of 200,000 logs, a statement that is $planned", ({ setting, concerns, removes }) => {
  /** Problems by the text of their statement, with what ran. */
  const problems = new Map<string, object>();
  const texts = new Set<string>();
  const progress: Progress = { now: "", refused: [] };

  beforeAll(async () => {
    await explainAll(database, { plan_cache_mode: setting });
    const running = await startApp(database, { WORKER: "on", DATA_DIR: filling.dataDir });
    const end = hearPlans((explained) => {
      if (!concerns(explained)) return;
      texts.add(explained.text);
      const problem = problemOf(explained);
      if (problem) problems.set(explained.text, { during: progress.now, ...problem });
    });
    try {
      await runRequests(running, world, progress);
      if (removes) await runRemovals(running, world, progress);
    } finally {
      end();
      await running.stop();
    }
  }, 300_000);

  test("reads a bounded part, by an index, on every path, operation and job", () => {
    expect(texts.size).toBeGreaterThan(100);
    if (removes) expect(progress.refused.toSorted()).toEqual(REFUSED); // the other mode imports the same again
    expect([...problems.values()]).toEqual([]);
  });
});
