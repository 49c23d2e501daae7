import { expect, test } from "@jest/globals";
import pino from "pino";
import { openJobPool } from "../../src/platform/jobs/job-pool/job-pool";
import { useApp } from "../support/app";
import { afterTest } from "../support/server";

const running = useApp();

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
