import { beforeEach, describe, expect, test } from "@jest/globals";
import { exportAudit, chainOf, readExport } from "../../src/account/audit/audit-export";
import { hashOf } from "../../src/account/audit/chain";
import { AuditLog } from "../../src/account/audit/audit-log";
import { newId } from "../../src/platform/database/values/ids";
import { verifyChain } from "../../src/account/audit/verify";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { until } from "../support/until";

const running = useApp({ WORKER: "on" });
const SAY = `mutation ($input: CreateProjectInput!) { createProject(input: $input) { id } }`;
let organizationId: string;
let api: Api;

beforeEach(async () => {
  ({ organizationId, api } = await running.otherOrganization());
});

const scope = () => running.app.database.scope(organizationId);
const log = () => scope().of(AuditLog);
const change = (count: number) =>
  Promise.all(Array.from({ length: count }, (_, n) => api.gql(SAY, { input: { name: `Project ${n}` } })));
const verdict = async (...published: { position: number; hash: string }[]) => {
  const head = await log().head();
  const all = { position: Number.MAX_SAFE_INTEGER, hash: "" };
  return (await verifyChain(chainOf(scope(), all), [head, ...published])).problem;
};
const asOwner = (statement: string, ...values: unknown[]) =>
  running.database.query(statement, [organizationId, ...values]);

describe("the audit log", () => {
  test("is numbered without gaps when several servers seal it during writes", async () => {
    const before = await log().head();
    await Promise.all([change(20), log().seal(), log().seal(), change(20), log().seal()]);
    await Promise.all([log().seal(), log().seal()]);
    const rows = await log().after(before.position, 1_000);
    expect(rows.map(({ position }) => position)).toEqual(rows.map((_, n) => before.position + n + 1));
    expect(rows.filter(({ operation }) => operation === "createProject")).toHaveLength(40);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    expect(await asOwner("select 1 from audit_outbox where organization_id = $1")).toEqual([]);
    expect(await verdict()).toBeUndefined();
  });

  test("is numbered by a job soon after an entry was written", async () => {
    await change(1);
    await until(
      async () => (await asOwner("select 1 from audit_outbox where organization_id = $1")).length === 0,
    );
  });

  test("takes entries whose address is too long for its index, as older releases stored them", async () => {
    const address = Array.from({ length: 200 }, () => newId()).join();
    const about = { operation: "createProject", recordType: "Project", recordId: newId(), fields: [] };
    const entry = { kind: "CHANGE", actor: "KEY", interface: "REST", address, ...about };
    await asOwner(
      "insert into audit_outbox (organization_id, id, entry) values ($1, $2, $3)",
      newId(),
      entry,
    );
    await log().seal();
    expect(await asOwner("select 1 from audit_outbox where organization_id = $1")).toEqual([]);
    expect(await verdict()).toBeUndefined();
  });

  test("reveals which row was changed, for each of its columns", async () => {
    await change(3);
    await log().seal();
    const columns = await running.database.query<{ name: string; type: string }>(
      `select column_name as name, data_type as type from information_schema.columns
       where table_name = 'audit_events' and column_name not in ('organization_id', 'position')`,
    );
    expect(columns.length).toBeGreaterThan(10);
    for (const { name, type } of columns) {
      const [kept] = await asOwner(
        `select ${name}::text as value from audit_events where organization_id = $1 and position = 2`,
      );
      const other = { jsonb: `'[]'`, "timestamp with time zone": `${name} + interval '1 ms'` }[type];
      await asOwner(
        `update audit_events set ${name} = ${other ?? "'other'"} where organization_id = $1 and position = 2`,
      );
      expect([name, await verdict()]).toEqual([name, expect.objectContaining({ position: 2 })]);
      await asOwner(
        `update audit_events set ${name} = $2::text::${type} where organization_id = $1 and position = 2`,
        kept!.value,
      );
      expect([name, await verdict()]).toEqual([name, undefined]);
    }
  });

  test("reveals which row is missing, in the middle and at the end", async () => {
    await change(3);
    await log().seal();
    const { position } = await log().head();
    await asOwner("delete from audit_events where organization_id = $1 and position = $2", position);
    expect(await verdict()).toMatchObject({ position, problem: expect.stringContaining("missing") });
    await asOwner("delete from audit_events where organization_id = $1 and position = 2");
    expect(await verdict()).toMatchObject({ position: 2, problem: expect.stringContaining("missing") });
  });

  test("reveals a cut end, even with the stored head cut too, to a verifier with a published head", async () => {
    await change(3);
    await log().seal();
    const published = await log().head();
    const { position } = published;
    await asOwner("delete from audit_events where organization_id = $1 and position = $2", position);
    await asOwner(
      `update audit_heads h set position = e.position, hash = e.hash from audit_events e
       where h.organization_id = $1 and e.organization_id = $1 and e.position = $2`,
      position - 1,
    );
    expect(await verdict()).toBeUndefined();
    expect(await verdict(published)).toMatchObject({ position, problem: expect.stringContaining("missing") });
  });

  test("reveals an end rewritten with matching hashes, to a verifier with a published head", async () => {
    await change(2);
    await log().seal();
    const published = await log().head();
    const [last] = await log().after(published.position - 1, 1);
    const hash = hashOf({ ...last!, operation: "deleteProject" });
    await asOwner(
      "update audit_events set operation = 'deleteProject', hash = $2 where organization_id = $1 and position = $3",
      hash,
      published.position,
    );
    await asOwner("update audit_heads set hash = $2 where organization_id = $1", hash);
    expect(await verdict()).toBeUndefined();
    expect(await verdict(published)).toMatchObject({
      position: published.position,
      problem: expect.stringContaining("replaced"),
    });
  });

  test("reveals which rows were swapped", async () => {
    await change(3);
    await log().seal();
    const move = (from: number, to: number) =>
      asOwner("update audit_events set position = $3 where organization_id = $1 and position = $2", from, to);
    await move(2, 1_000);
    await move(3, 2);
    await move(1_000, 3);
    expect(await verdict()).toMatchObject({ position: 2, problem: expect.stringContaining("out of place") });
  });

  test("is exported with its head at the end, and can be verified from the export alone", async () => {
    await change(2);
    const lines: string[] = [];
    for await (const line of exportAudit(scope())) lines.push(line);
    const head = await log().head();
    expect(JSON.parse(lines.at(-1)!)).toEqual({ head: { organizationId, ...head } });
    expect(lines).toHaveLength(head.position + 1);
    const { rows, heads } = readExport(lines);
    expect((await verifyChain(rows, heads)).problem).toBeUndefined();
    expect((await verifyChain(rows.slice(0, -1), heads)).problem).toMatchObject({ position: head.position });
  });
});
