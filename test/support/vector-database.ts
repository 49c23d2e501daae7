import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable } from "node:stream";
import pg from "pg";
import { slowTasks, soleTasks, tasks, type Task } from "../../src/worker/tasks";
import { prepare } from "../../src/start/prepare";
import type { RunningApp } from "./app";
import { configOf } from "./config";
import { statement, type TestDatabase } from "./database";
import { waitingJobs } from "./jobs";

/**
 * A prepared database with pgvector. Its clients share one session, so use one pool with one connection and no worker.
 */
export async function vectorDatabase(): Promise<TestDatabase> {
  const program = join(__dirname, "vector-postgres.mjs");
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
  const [port] = (await once(child.stdout as Readable, "data")) as [Buffer];
  const url = `postgres://postgres:postgres@127.0.0.1:${Number(port)}/postgres?sslmode=disable`;
  // It ignores the settings of connections, like a pooler, but the one session keeps what it is told.
  await statement(url, "set parley.direct = 'on'");
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

/** Runs the waiting jobs in place of a worker. @returns the names of their tasks */
export async function drain({ app, database }: Pick<RunningApp, "app" | "database">): Promise<string[]> {
  const done: string[] = [];
  for (;;) {
    const [job] = await waitingJobs(database);
    if (!job) return done;
    await database.query("select graphile_worker.complete_jobs(array[$1::bigint])", [job.id]);
    const { organizationId, ...payload } = job.payload;
    const task: Task = { ...tasks, ...soleTasks, ...slowTasks }[job.task as keyof typeof tasks];
    await task.run(app.database.scope(organizationId!), payload, true);
    done.push(job.task);
  }
}
