import { expect, test } from "@jest/globals";
import pino from "pino";
import { openJobPool } from "../../src/platform/jobs/job-pool/job-pool";
import { useApp } from "../support/app";
import { afterTest } from "../support/server";
import { until } from "../support/until";

const running = useApp({ WORKER: "on" });

test("a server that starts opens five connections for its jobs, although each worker looks for one", async () => {
  const [found] = await running.database.query<{ connections: number }>(
    `select count(*)::integer as connections from pg_stat_activity
     where datname = current_database() and application_name = 'parley worker'`,
  );
  expect(found!.connections).toBe(5);
});

test("six statements at once use five connections at first, and six later", async () => {
  const pool = openJobPool(running.database.url, pino({ level: "silent" }));
  afterTest(() => pool.end());
  const used = async () => {
    const statement = () => pool.query<{ pid: number }>("select pg_backend_pid() as pid, pg_sleep(0.05)");
    const results = await Promise.all(Array.from({ length: 6 }, statement));
    return new Set(results.map(({ rows: [row] }) => row!.pid)).size;
  };
  expect(await used()).toBe(5);
  await until(async () => (await used()) === 6);
});

test("a connection that is released twice is returned once, and its next user keeps it", async () => {
  const pool = openJobPool(running.database.url, pino({ level: "silent" }));
  afterTest(() => pool.end());
  const connect = () =>
    new Promise<{ client: object; release: () => void }>((resolve, reject) =>
      pool.connect((error, client, release) => (client ? resolve({ client, release }) : reject(error!))),
    );
  const first = await connect();
  first.release();
  const second = await connect();
  expect(second.client).toBe(first.client);
  first.release();
  expect(pool.idleCount).toBe(0);
  second.release();
  expect(pool.idleCount).toBe(1);
});

test("a connection that has refused a write because it is read-only is closed, and others are kept", async () => {
  const pool = openJobPool(running.database.url, pino({ level: "silent" }));
  afterTest(() => pool.end());
  const [refused, other] = await Promise.all([pool.connect(), pool.connect()]);
  await refused.query("set default_transaction_read_only = on");
  await expect(refused.query("delete from worker_heartbeats where false")).rejects.toThrow("read-only");
  for (const client of [refused, other]) client.release();
  expect([pool.totalCount, pool.idleCount]).toEqual([1, 1]);
});

test("the end of the pool waits until its connections are closed, because PostgreSQL may stop next", async () => {
  const pool = openJobPool(running.database.url, pino({ level: "silent" }));
  const clients = await Promise.all([pool.connect(), pool.connect(), pool.connect()]);
  let open = clients.length;
  for (const client of clients) client.once("end", () => open--).release();
  await pool.end();
  expect(open).toBe(0);
});
