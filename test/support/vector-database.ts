import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable } from "node:stream";
import pg from "pg";
import { slowTasks, soleTasks, tasks, type Task } from "../../src/worker/tasks";
import { prepare } from "../../src/start/prepare";
import type { RunningApp } from "./app";
import { configOf } from "./config";
import type { TestDatabase } from "./database";

/** A prepared database with pgvector. Its clients share one session: one pool of one connection, and no worker. */
export async function vectorDatabase(): Promise<TestDatabase> {
  const program = join(__dirname, "vector-postgres.mjs");
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
  const [port] = (await once(child.stdout as Readable, "data")) as [Buffer];
  const url = `postgres://postgres:postgres@127.0.0.1:${Number(port)}/postgres?sslmode=disable`;
  await prepare(configOf(), url);
  return {
    url,
    ownerUrl: url,
    jobsUrl: url,
    query: async (text, values = []) => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      return (await client.query(text, values).finally(() => client.end())).rows as never;
    },
    drop: async () => {
      const ended = once(child, "exit");
      child.stdin.end();
      await ended;
    },
  };
}

/** Does what waits to be done, in place of a worker; the names of the tasks that it was. */
export async function drain({ app, database }: Pick<RunningApp, "app" | "database">): Promise<string[]> {
  const done: string[] = [];
  for (;;) {
    const [job] = await database.query<{ id: string; name: string; payload: Record<string, string> }>(
      `select job.id, task.identifier as name, job.payload from graphile_worker._private_jobs job
       join graphile_worker._private_tasks task on task.id = job.task_id order by job.id limit 1`,
    );
    if (!job) return done;
    await database.query("delete from graphile_worker._private_jobs where id = $1", [job.id]);
    const { organizationId, ...payload } = job.payload;
    const task: Task = { ...tasks, ...soleTasks, ...slowTasks }[job.name as keyof typeof tasks];
    await task.run(app.database.scope(organizationId!), payload, true);
    done.push(job.name);
  }
}
