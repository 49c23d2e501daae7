import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Knex } from "knex";
import { connect } from "../../src/platform/database/connections/connect";
import { migrationSource } from "../../src/platform/database/upgrades/migrate";
import { migrations } from "../../src/platform/database/migrations";
import { createDatabase, type TestDatabase } from "../support/database";
import { breachesOf } from "../support/migration-rules";
import { dumped } from "../upgrades/dump";

const names = Object.keys(migrations);
/** The rules hold for migrations after this one. */
const LAST_WITHOUT_RULES = "049-bounded-deletion";
const guarded = names.slice(names.indexOf(LAST_WITHOUT_RULES) + 1);

/** Landed in one commit with the next one, so that no version ended with them. */
const WITHOUT_VERSION = [
  "003-knowledge",
  "004-calls",
  "005-workflows",
  "006-telephony",
  "008-widget",
  "009-analytics",
  "011-sms-age",
  "012-sole-jobs",
  "019-holds",
  "026-erasures",
  "045-analytics-sums",
  "058-pinned-versions",
  "059-missing-variables",
];

let database: TestDatabase;
let db: Knex;
beforeAll(async () => {
  database = await createDatabase();
  db = connect(database.ownerUrl, { pool: 1 });
});
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});

/** The breaches of a change that is undone afterwards. */
async function tried(...statements: readonly string[]): Promise<string[]> {
  const trx = await db.transaction();
  return breachesOf(trx, async (db) => {
    for (const statement of statements) await db.raw(statement);
  }).finally(() => trx.rollback());
}

describe("a migration", () => {
  test("is instant on large tables and leaves what older servers use", async () => {
    for (const name of [...guarded].reverse()) await db.migrate.down({ migrationSource, name });
    for (const name of guarded) {
      const breaches = await db.transaction((trx) =>
        breachesOf(trx, async (db) => void (await migrations[name]!.up(db))),
      );
      expect({ name, breaches }).toEqual({ name, breaches: [] });
    }
  });

  test.each([
    ["builds an index", "create index i on chats (label)", ["reads chats"]],
    ["changes rows", "update messages set content = ''", ["reads messages"]],
    [
      "forbids null without a valid check",
      "alter table chats alter column label set not null",
      ["reads chats", "requires chats.label, which older servers may not set"],
    ],
    ["adds a valid check", "alter table chats add constraint c check (label <> '')", ["reads chats"]],
    [
      "has a volatile default",
      "alter table chats add column c uuid default gen_random_uuid()",
      ["reads chats", "rewrites chats"],
    ],
    [
      "changes a type",
      "alter table chats alter column label type varchar(9)",
      ["reads chats", "rewrites chats", "changes the type of chats.label"],
    ],
    ["removes a column", "alter table chats drop column label", ["removes chats.label"]],
    [
      "requires a column",
      "alter table log_blocks add column c text not null",
      ["reads log_blocks", "requires log_blocks.c, which older servers do not set"],
    ],
    ["removes a table", "drop table log_changes", ["removes log_changes"]],
    [
      "creates a trigger",
      "create trigger t before update on chats for each row execute function suppress_redundant_updates_trigger()",
      ["creates the trigger chats.t"],
    ],
    [
      "sets null by a key",
      "alter table chats add constraint k foreign key (organization_id) references organizations on delete set null not valid",
      ["sets columns by the key chats.k"],
    ],
    [
      "has several subcommands",
      "alter table chats add column c text, add column d text",
      ["has several subcommands: alter table chats add column c text, add column d text"],
    ],
  ])("is refused if it %s", async (_, statement, breaches) => {
    expect(await tried(statement)).toEqual(breaches);
  });

  test("may add columns and tables, checks that are not valid yet, and change small tables", async () => {
    const statements = [
      "alter table chats add column c text default 'a, b'",
      "alter table chats add constraint k check (c <> 'x, y') not valid",
      "create table t (organization_id text, id text, primary key (organization_id, id))",
      "create index i on t (id)",
      "update organizations set name = name || '!'",
    ];
    expect(await tried(...statements)).toEqual([]);
  });
});

test("every version of the schema has a small dump, from which its upgrade is tested", () => {
  const expected = names.filter((name) => !WITHOUT_VERSION.includes(name));
  expect({
    "no dump; see test/upgrades/README.md": expected.filter((name) => !dumped().includes(name)),
  }).toEqual({
    "no dump; see test/upgrades/README.md": [],
  });
  expect(dumped()).toEqual(expected);
  const folder = join(__dirname, "../upgrades/dumps");
  const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
  expect(Math.max(...sizes)).toBeLessThan(40_000);
});
