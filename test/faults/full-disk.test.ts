import { expect, test } from "@jest/globals";
import { statement } from "../support/database";
import {
  emptyFolder,
  preparedDatabase,
  runToEnd,
  SERVER_TIMEOUT_MS,
  SETTINGS,
  startServer,
} from "../support/server";

/** Answers changes of assistants as PostgreSQL does on a full disk. */
const FULL = `
  create function no_space() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$;
  create trigger no_space before insert or update on assistants for each row execute function no_space()`;

test(
  "on a full disk, both interfaces name the cause, the log grows by a line a minute, and changes succeed once there is space",
  async () => {
    const url = await preparedDatabase();
    const { api, stderr } = await startServer({ ...SETTINGS, DATABASE_URL: url });
    const { id } = await api.post("/rest/v1/assistants", { name: "Ada" }, 200);
    await statement(url, FULL);
    const mutation = 'mutation { createAssistant(input: { name: "Bea" }) { id } }';
    const requests = [
      () => api.request("POST", "/rest/v1/assistants", { name: "Bea" }),
      () => api.request("PATCH", `/rest/v1/assistants/${id}`, { name: "Bea" }),
    ];
    for (let round = 0; round < 5; round++) {
      for (const request of requests)
        expect(await request()).toMatchObject({ status: 507, body: { code: "INSUFFICIENT_STORAGE" } });
      const { body } = await api.request("POST", "/graphql", { query: mutation });
      expect(body.errors).toMatchObject([{ extensions: { code: "INSUFFICIENT_STORAGE" } }]);
    }
    expect((await api.get(`/rest/v1/assistants/${id}`, 200)).name).toBe("Ada");
    const lines = stderr()
      .split("\n")
      .filter((line) => line.includes('"53100"'))
      .map((line) => JSON.parse(line) as { msg: string });
    expect(lines.map(({ msg }) => msg)).toEqual([...new Set(lines.map(({ msg }) => msg))]);
    expect(lines).not.toEqual([]);
    await statement(url, "drop trigger no_space on assistants");
    for (const request of requests) expect(await request()).toMatchObject({ status: 200 });
  },
  2 * SERVER_TIMEOUT_MS,
);

/** Answers every change of a table that exists as PostgreSQL does on a full disk; Knex updates its lock in place. */
const FULL_TABLES = `
  create function no_space() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$;
  do $$ declare name text; begin
    for name in select tablename from pg_tables where schemaname = 'public' and tablename <> 'knex_migrations_lock' loop
      execute format('create trigger no_space before insert or update on %I for each statement execute function no_space()', name);
    end loop;
  end $$`;

test(
  "a server starts on a full disk and answers reads",
  async () => {
    const env = { ...SETTINGS, DATABASE_URL: await preparedDatabase(), DATA_DIR: emptyFolder() };
    const before = await startServer(env);
    const { id } = await before.api.post("/rest/v1/assistants", { name: "Ada" }, 200);
    await before.end("SIGTERM");
    await statement(env.DATABASE_URL, FULL_TABLES);
    const { api } = await startServer(env);
    expect((await api.get(`/rest/v1/assistants/${id}`, 200)).name).toBe("Ada");
    expect(await api.get("/rest/v1/assistants/templates", 200)).not.toEqual([]);
  },
  3 * SERVER_TIMEOUT_MS,
);

test(
  "a start that must write on a full disk names the disk",
  async () => {
    const env = { ...SETTINGS, DATABASE_URL: await preparedDatabase(), DATA_DIR: emptyFolder() };
    await statement(env.DATABASE_URL, `delete from templates; ${FULL_TABLES}`);
    const { code, stderr } = await runToEnd("main", env);
    expect(code).toBe(1);
    expect(stderr).toContain(
      "The disk of PostgreSQL is full (could not extend file). Free space on it, then try again.",
    );
  },
  SERVER_TIMEOUT_MS,
);
