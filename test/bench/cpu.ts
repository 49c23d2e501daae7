import { readdirSync, readFileSync } from "node:fs";
import { Client } from "pg";

/** Linux counts the CPU time of a process in hundredths of a second. */
const TICKS_A_SECOND = 100;

/** The fields of /proc/PID/stat after the name: parent at 1, user and system time from 11 on, with those of ended children. */
const statOf = (pid: number | string): number[] =>
  readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ").map(Number);

/** CPU time of a process so far, with that of its ended children, in seconds. */
export const cpuOf = (pid: number | string): number =>
  statOf(pid)
    .slice(11, 15)
    .reduce((sum, ticks) => sum + ticks, 0) / TICKS_A_SECOND;

/** CPU time so far of the main process of PostgreSQL, which includes that of its ended children, and of its live ones. */
export function cpuBelow(postmaster: number): number {
  let sum = cpuOf(postmaster);
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
    try {
      if (statOf(pid)[1] === postmaster) sum += cpuOf(pid);
    } catch {
      // has just ended
    }
  return sum;
}

/** The main process of a PostgreSQL on this machine. */
export async function postmasterOf(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  const [, parent] = statOf(rows[0]!.pid);
  await client.end();
  return parent!;
}
