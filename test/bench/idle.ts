import { setTimeout as sleep } from "node:timers/promises";
import type { Bench } from "./bench";
import { cpuBelow, cpuOf, postmasterOf } from "./cpu";

/** Until the start is over: V8 compiles its code for minutes, and PostgreSQL writes its pages until the first checkpoint ends. */
const SETTLE_MS = 600_000;
const MEASURE_MS = 120_000;
const MOST_PERCENT = 0.5;

/** Measures the CPU time of the service and its database while nobody asks for anything. */
export async function idle({ ours, databaseUrl, table }: Bench): Promise<void> {
  await sleep(SETTLE_MS);
  const postmaster = await postmasterOf(databaseUrl);
  const seconds = MEASURE_MS / 1_000;
  const before = [cpuOf(ours.pid), cpuBelow(postmaster)] as const;
  await sleep(MEASURE_MS);
  const [service, database] = [cpuOf(ours.pid) - before[0], cpuBelow(postmaster) - before[1]];
  const percent = (spent: number) => (100 * spent) / seconds;
  table.add({ what: "idle, service", ours: percent(service), unit: "%" });
  table.add({ what: "idle, database", ours: percent(database), unit: "%" });
  table.add({
    what: "idle, both, of one core",
    ...{ ours: percent(service + database), unit: "%", most: MOST_PERCENT },
  });
}
