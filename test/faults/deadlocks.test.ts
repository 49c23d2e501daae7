import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startApp } from "../support/app";
import { createDatabase, type TestDatabase } from "../support/database";
import { rows } from "../support/suite";
import { callerOf, targets } from "../support/targets";
import { buildWorld, type World } from "../support/world";

let database: TestDatabase;
let running: Awaited<ReturnType<typeof startApp>>;
let world: World;

/** Ends each transaction that writes an audit entry as after a deadlock; sequences survive that, so the next one succeeds. */
const DEADLOCKED = `
  create sequence entries;
  grant usage on sequence entries to public;
  create function deadlock() returns trigger language plpgsql as $$ begin
    if nextval('entries') % 2 = 1 then raise exception 'deadlock detected' using errcode = '40P01'; end if;
    return new;
  end $$;
  create trigger deadlock before insert on audit_outbox for each row execute function deadlock()`;

beforeAll(async () => {
  database = await createDatabase();
  running = await startApp(database, { WORKER: "off" });
  world = await buildWorld(running.api);
  await database.query(DEADLOCKED);
});
afterAll(async () => {
  await running.stop();
  await database.drop();
});

const changing = rows(
  targets.filter(({ changes, caller }) => changes && caller === "key"),
  40,
);
describe(`${changing.title} routes and operations that change something`, () => {
  test.each(changing.rows)("$title is repeated after a deadlock", async (target) => {
    await database.query("select setval('entries', 1, false)");
    const { code } = await target.ask(callerOf(target, running.api, world), world);
    expect(code).not.toBe("CONFLICT");
  });
});
