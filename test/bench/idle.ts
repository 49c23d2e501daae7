import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import type { Bench } from "./bench";

/** Until the work of the start is done, and how long is measured then. */
const SETTLE_MS = 60_000;
const MEASURE_MS = 120_000;
const MOST_PERCENT = 0.5;
/** Linux counts the CPU time of a process in hundredths of a second. */
const TICKS_A_SECOND = 100;

/** Measures the CPU time of the service and its database while nobody asks for anything. */
export async function idle({ ours, databaseUrl, table }: Bench): Promise<void> {
  await sleep(SETTLE_MS);
  const postmaster = await postmasterOf(databaseUrl);
  const seconds = MEASURE_MS / 1_000;
  const before = [ticksOf(ours.pid), ticksBelow(postmaster)] as const;
  await sleep(MEASURE_MS);
  const [service, database] = [ticksOf(ours.pid) - before[0], ticksBelow(postmaster) - before[1]];
  const percent = (ticks: number) => (100 * ticks) / TICKS_A_SECOND / seconds;
  table.add({ what: "idle, service", ours: percent(service), unit: "%" });
  table.add({ what: "idle, database", ours: percent(database), unit: "%" });
  table.add({
    what: "idle, both, of one core",
    ...{ ours: percent(service + database), unit: "%", most: MOST_PERCENT },
  });
}

/** The fields of /proc/PID/stat after the name: parent at 1, user and system time from 11 on, with those of ended children. */
const statOf = (pid: number | string): number[] =>
  readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ").map(Number);

const ticksOf = (pid: number | string): number =>
  statOf(pid)
    .slice(11, 15)
    .reduce((sum, ticks) => sum + ticks, 0);

/** CPU time of the main process of PostgreSQL, which includes that of its ended children, and of its live ones. */
function ticksBelow(postmaster: number): number {
  let sum = ticksOf(postmaster);
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
    try {
      if (statOf(pid)[1] === postmaster) sum += ticksOf(pid);
    } catch {
      // has just ended
    }
  return sum;
}

async function postmasterOf(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  const [, parent] = statOf(rows[0]!.pid);
  await client.end();
  return parent!;
}
