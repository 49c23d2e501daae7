import { beforeAll, describe, expect, test } from "@jest/globals";
import pg from "pg";
import { TWO_PHASE_TABLE } from "../../src/platform/database/distributed/distribute";
import { OF_JOBS, READ_ONLY, SHARED } from "../../src/platform/database/upgrades/roles";
import { useApp } from "../support/app";
import { APP_ROLE, JOBS_ROLE } from "../support/database";
import { newAssistant, newChat, quietAssistant, say } from "../support/factories";
import { until } from "../support/until";

const running = useApp({ WORKER: "on" });

interface Table {
  readonly name: string;
  /** The column with its organization; null for a table without organizations. */
  readonly column: string | null;
  readonly hidden: boolean;
  readonly policy: string | null;
  readonly serving: string;
  readonly jobs: string;
  readonly owned: boolean;
}

const rights = (role: string) => `
  concat_ws(' ', ${["select", "insert", "update", "delete", "truncate", "references", "trigger"]
    .map((right) => `case when has_table_privilege('${role}', c.oid, '${right}') then '${right}' end`)
    .join(", ")})`;

const TABLES = `
  select n.nspname || '.' || c.relname as name, c.relrowsecurity as hidden,
    case when c.relname = 'organizations' then 'id' else a.attname end as column,
    (select min(pg_get_expr(p.polqual, p.polrelid) || ' / ' || pg_get_expr(p.polwithcheck, p.polrelid)) from pg_policy p
     where p.polrelid = c.oid and p.polcmd = '*' and p.polpermissive) as policy,
    ${rights(APP_ROLE)} as serving, ${rights(JOBS_ROLE)} as jobs,
    pg_has_role('${APP_ROLE}', c.relowner, 'member') or pg_has_role('${JOBS_ROLE}', c.relowner, 'member') as owned
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  left join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
  where n.nspname in ('public', 'graphile_worker') and c.relkind in ('r', 'p') order by 1`;

const ALL = "select insert update delete";
const plain = ({ name }: Table) => name.split(".")[1]!;

let tables: Table[] = [];
beforeAll(async () => {
  tables = await running.database.query<Table & pg.QueryResultRow>(TABLES);
});

describe("every table of the database", () => {
  const named = (wrong: Table[]) => wrong.map(({ name }) => name);

  test("is examined", () => {
    expect(tables.length).toBeGreaterThan(45);
    expect(named(tables)).toEqual(expect.arrayContaining(["public.chats", "public.sole_jobs"]));
  });

  test("is owned by a role that neither serves requests nor runs jobs", () => {
    expect(named(tables.filter(({ owned }) => owned))).toEqual([]);
  });

  test("of an organization is visible to the serving role only for the current organization", () => {
    const open = tables.filter(({ column, hidden, policy }) => {
      const setting = "current_setting('parley.organization_id'::text, true)";
      const expressions = [`(${column} = ${setting})`, `(NOT (${column} IS DISTINCT FROM ${setting}))`];
      return column !== null && !(hidden && expressions.some((one) => policy === `${one} / ${one}`));
    });
    expect(named(open)).toEqual([]);
  });

  test("grants each role exactly the rights that it needs", () => {
    const expected = (table: Table): Pick<Table, "serving" | "jobs"> => {
      if (table.name.startsWith("graphile_worker.")) return { serving: "", jobs: ALL };
      if (OF_JOBS.includes(plain(table))) return { serving: "", jobs: ALL };
      if (READ_ONLY.includes(plain(table))) return { serving: "select", jobs: "" };
      return { serving: ALL, jobs: "" };
    };
    const wrong = tables.filter((table) => {
      const { serving, jobs } = expected(table);
      return table.serving !== serving || table.jobs !== jobs;
    });
    expect(wrong.map(({ name, serving, jobs }) => ({ name, serving, jobs }))).toEqual([]);
  });

  test("without an organization contains no data of any", () => {
    const shared = tables.filter((table) => table.column === null && table.name.startsWith("public."));
    const ofCluster = process.env.TEST_CITUS ? [TWO_PHASE_TABLE] : [];
    expect(shared.map(plain).sort()).toEqual([...ofCluster, ...OF_JOBS, ...READ_ONLY, ...SHARED].sort());
  });
});

test("a table of a later migration grants the rights of both roles from the start", async () => {
  const { database } = running;
  await database.query("create table public.later (id text)");
  const [later] = await database.query<Table & pg.QueryResultRow>(
    `select * from (${TABLES}) t where name = 'public.later'`.replace(" order by 1)", ")"),
  );
  await database.query("drop table public.later");
  expect(later).toMatchObject({ serving: ALL, jobs: "", owned: false });
});

test("no migration creates a trigger, which could not be distributed by organization", async () => {
  const triggers = `select tgname from pg_trigger join pg_class c on c.oid = tgrelid
    where not tgisinternal and relnamespace = 'public'::regnamespace`;
  expect(await running.database.query(triggers)).toEqual([]);
});

test("every function that runs as the owner sets its search path", async () => {
  const loose = await running.database.query(
    `select proname from pg_proc where proname like 'parley%' and prosecdef
     and not coalesce(proconfig::text ~ 'search_path=(parley_quiet, )?pg_catalog, public', false)`,
  );
  expect(loose).toEqual([]);
});

/** Runs a statement as the role of a URL, in an organization if one is given. */
async function as(url: string, text: string, organization?: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    if (organization !== undefined)
      await client.query("select set_config('parley.organization_id', $1, false)", [organization]);
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

test("the function that searches by the indexes finds chats of the organization only, and nothing for the jobs role", async () => {
  const { api, database, otherOrganization } = running;
  const { id } = await api.get("/rest/v1/organization", 200);
  const other = await otherOrganization();
  const chatId = await newChat(api, await quietAssistant(api));
  await say(api, chatId, "A zugzwang of mine", "USER");
  const search = "select parley_searched_chats('%zugzwang%', null) as id";
  const url = database.directUrl ?? database.url;
  expect(await as(url, search, id)).toEqual([{ id: chatId }]);
  expect(await as(url, search, other.organizationId)).toEqual([]);
  expect(await as(url, search)).toEqual([]);
  expect(await as(database.jobsUrl, search, id)).toEqual([]);
});

test("the function that finds entries about a person finds those of the organization only, and nothing for the jobs role", async () => {
  const { database, otherOrganization, api } = running;
  const { id } = await api.get("/rest/v1/organization", 200);
  const other = await otherOrganization();
  await database.query(
    `insert into audit_events (organization_id, position, id, kind, actor, interface, operation, record_type, fields, created_at, previous_hash, hash)
     values ($1, 1000000, 'zugzwang', 'CHANGE', 'SECRET', 'GRAPHQL', 'startChat', 'Chat', '[{"name":"uniqueId","digest":"zugzwang"}]', now(), '', '')`,
    [id],
  );
  const search = "select parley_audited_about(array['zugzwang'], 10) as position";
  const url = database.directUrl ?? database.url;
  expect(await as(url, search, id)).toEqual([{ position: "1000000" }]);
  expect(await as(url, search, other.organizationId)).toEqual([]);
  expect(await as(url, search)).toEqual([]);
  expect(await as(database.jobsUrl, search, id)).toEqual([]);
  await database.query("delete from audit_events where id = 'zugzwang'");
});

test("the functions that find records that name a person find those of the organization only, and nothing for the jobs role", async () => {
  const { database, otherOrganization, api } = running;
  const { id } = await api.get("/rest/v1/organization", 200);
  const other = await otherOrganization();
  await database.query(
    `insert into files (organization_id, id, name, mime_type, detected_type, size, metadata)
     values ($1, 'zugzwang', 'a', 'text/plain', 'text/plain', 1, '{"userId":"zugzwang"}')`,
    [id],
  );
  await database.query(
    `insert into sms_received (organization_id, message_sid, connection_id, sms)
     values ($1, 'zugzwang', 'line', '{"from":"zugzwang"}')`,
    [id],
  );
  const url = database.directUrl ?? database.url;
  for (const search of [
    "select parley_files_naming(array['zugzwang'], array['none'], array['zugzwang']) as id",
    "select parley_texts_from('zugzwang') as id",
  ]) {
    expect(await as(url, search, id)).toEqual([{ id: "zugzwang" }]);
    expect(await as(url, search, other.organizationId)).toEqual([]);
    expect(await as(url, search)).toEqual([]);
    expect(await as(database.jobsUrl, search, id)).toEqual([]);
  }
  for (const table of ["files where id", "sms_received where message_sid"])
    await database.query(`delete from ${table} = 'zugzwang'`);
});

describe("the serving role", () => {
  const asServer = (text: string, organization?: string): Promise<unknown[]> =>
    as(running.database.directUrl ?? running.database.url, text, organization);

  test("sees no rows before an organization is set, and then only its rows", async () => {
    const { api, database, otherOrganization } = running;
    await newChat(api, await newAssistant(api));
    const other = await otherOrganization();
    for (const { name, column } of tables.filter(({ column }) => column !== null)) {
      expect({ name, rows: await asServer(`select 1 from ${name} limit 1`) }).toEqual({ name, rows: [] });
      const others = `select 1 from ${name} where ${column} <> '${other.organizationId}' limit 1`;
      expect({ name, rows: await asServer(others, other.organizationId) }).toEqual({ name, rows: [] });
    }
    expect((await database.query("select 1 from key_lookup")).length).toBeGreaterThan(3);
  });

  test.each(["key_lookup", "call_lookup", "telephony_lookup", "organizations"])(
    "cannot list %s",
    async (table) => {
      expect(await asServer(`select * from ${table}`)).toEqual([]);
    },
  );

  test("lets the jobs role run turns, which sees no organization's rows", async () => {
    const { api, database } = running;
    const chatId = await newChat(api, await quietAssistant(api));
    await say(api, chatId, "Hello?", "USER");
    await until(
      async () =>
        (await database.query("select 1 from messages where chat_id = $1 and role = 'ASSISTANT'", [chatId]))
          .length === 1,
    );
    await expect(as(database.jobsUrl, "select 1 from chats")).rejects.toThrow("permission denied");
    await expect(as(database.jobsUrl, "select 1 from graphile_worker.jobs")).resolves.toBeDefined();
  });
});
