import { expect } from "@jest/globals";
import pg from "pg";
import { TWO_PHASE_TABLE } from "../../src/platform/database/distributed/distribute";
import { HOMES } from "../../src/platform/database/home";
import { rowsAt, type CitusCluster } from "../support/citus";
import { contentsOf } from "../support/installation";
import { afterTest, startProgram, type Env, type ProcessResult } from "../support/server";
import { until } from "../support/until";

/** All rows, without those that only a distributed database has. */
export async function contents(url: string): Promise<Record<string, string[]>> {
  const { [HOMES]: _homes, [TWO_PHASE_TABLE]: _commits, ...all } = await contentsOf(url);
  return all;
}

/** Waits until a session of a database waits. @param name its application_name */
export const waits = (url: string, wait: string, name = "%"): Promise<void> =>
  until(async () => {
    const text = `select from pg_stat_activity where datname = current_database() and ${wait} and application_name like '${name}'`;
    return (await rowsAt(url, text)).length > 0;
  });

/** Opens a transaction that holds a lock. @returns ends it */
export async function held(url: string, lock: string): Promise<() => Promise<void>> {
  const holder = new pg.Client({ connectionString: url });
  holder.on("error", () => undefined);
  await holder.connect();
  await holder.query(`begin; ${lock}`);
  const goOn = () => holder.end();
  afterTest(goOn);
  return goOn;
}

/** A command that waits for a lock, and a function that lets it go on. */
export type HeldCommand = ReturnType<typeof startProgram> & { readonly goOn: () => Promise<void> };

/** Starts a command, and lets it wait for a lock. */
export async function heldBack(
  env: Env,
  lock: string,
  name: string,
  program: string,
  ...options: string[]
): Promise<HeldCommand> {
  const url = env.DATABASE_URL!;
  const goOn = await held(url, lock);
  const command = startProgram(program, env, ...options);
  await waits(url, "wait_event_type = 'Lock'", name);
  return { ...command, goOn };
}

type Interrupt = (command: HeldCommand, cluster: CitusCluster) => Promise<ProcessResult>;

/** Ways to interrupt a command; each ends with a whole cluster. */
export const INTERRUPTIONS: Readonly<Record<string, Interrupt>> = {
  "the command": async ({ kill, goOn }) => {
    const result = await kill();
    await goOn();
    return result;
  },
  "a worker": async ({ ended, goOn }, { workers }) => {
    await workers[1]!.kill();
    await goOn();
    const result = await ended;
    await workers[1]!.start();
    return result;
  },
  "the coordinator": async ({ ended }, { coordinator }) => {
    await coordinator.kill();
    const result = await ended;
    await coordinator.start();
    return result;
  },
};

/** The line that a command prints when PostgreSQL ends, without a stack trace. */
const SAYS_WHAT_TO_DO = /^Database: .*\n.*(try again|run the command again).*\n$/;
const KILLED = { code: null, stdout: "" };
export const FAILED = { code: 1, stdout: "", stderr: expect.stringMatching(SAYS_WHAT_TO_DO) };
export const resultOf = (killed: string): typeof FAILED | typeof KILLED =>
  killed === "the command" ? KILLED : FAILED;
