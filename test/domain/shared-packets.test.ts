import { afterEach, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { Client } from "../../src/platform/database/knex-client/client";
import type { Scope } from "../../src/platform/database/scope";
import { statement } from "../../src/platform/database/statement";
import { useApp } from "../support/app";

const running = useApp();
afterEach(() => void jest.restoreAllMocks());

let own: string;
beforeAll(async () => void ({ id: own } = await running.api.get("/rest/v1/organization", 200)));
const scope = (organizationId = own): Scope => running.app.database.scope(organizationId);

/** The organization that row-level security lets a statement see. */
const VISIBLE = statement<{ id: string; own: string }>(({ db, $ }) =>
  db.raw("select current_setting('parley.organization_id') as id, $1 as own where ?::text is not null", [
    $(1),
  ]),
);
/** A statement that takes some seconds. */
const SLEEPING = statement<{ slept: string }>(({ db, $ }) =>
  db.raw("select pg_sleep(?::float)::text as slept where $1::text is not null", [$(1)]),
);
const FAILING = statement<{ failed: number }>(({ db, $ }) =>
  db.raw("select 1 / ?::integer as failed where $1::text is not null", [$(1)]),
);

describe("reads at the same time", () => {
  test("share connections, eight on each, and each sees its own organization", async () => {
    const connections = jest.spyOn(Client.prototype, "onConnection");
    const ids = Array.from({ length: 20 }, (_, index) => `organization-${index}`);
    const rows = await Promise.all(ids.map((id) => scope(id).read(VISIBLE, ["x"])));
    expect(rows.flat()).toEqual(ids.map((id) => ({ id, own: id })));
    expect(connections).toHaveBeenCalledTimes(3);
  });

  test("succeed beside one that fails", async () => {
    const divisors = [1, 0, 1];
    const results = await Promise.allSettled(divisors.map((by) => scope().read(FAILING, [by])));
    expect(results).toMatchObject([
      { value: [{ failed: 1 }] },
      { status: "rejected", reason: { message: expect.stringContaining("division by zero") } },
      { value: [{ failed: 1 }] },
    ]);
  });

  test("succeed beside one that cannot be sent", async () => {
    const ids = [own, "'; drop table", own];
    const results = await Promise.allSettled(ids.map((id) => scope(id).read(VISIBLE, ["x"])));
    expect(results).toMatchObject([
      { value: [{ own }] },
      { status: "rejected", reason: { message: expect.stringContaining("Not an organization") } },
      { value: [{ own }] },
    ]);
  });

  test("do not wait for a long one", async () => {
    const ended: string[] = [];
    const end = (name: string) => () => void ended.push(name);
    await Promise.all([
      scope().readLong(SLEEPING, [1]).then(end("long")),
      scope().read(VISIBLE, ["x"]).then(end("first")),
      scope().read(VISIBLE, ["x"]).then(end("second")),
    ]);
    expect(ended).toEqual(["first", "second", "long"]);
  });

  test("have each the whole time limit of a connection, which ends only one that does not answer", async () => {
    const results = await Promise.all([3, 3, 3].map((seconds) => scope().read(SLEEPING, [seconds])));
    expect(results).toEqual(Array(3).fill([{ slept: "" }]));
  });
});
