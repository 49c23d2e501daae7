import type { Client } from "./client";
import type { Follower } from "./follower";
import type { Installation } from "./installation";
import type { Invariant } from "./invariants";
import type { Traffic } from "./traffic";

export interface FaultRun {
  readonly name: string;
  readonly atMinute: number;
  /** Time until all servers were ready again, in seconds; undefined if it exceeded the limit. */
  readonly recoverySeconds: number | undefined;
}

export interface MemorySample {
  readonly minute: number;
  readonly mebibytes: number;
}

/** In shorter runs, memory still grows because caches fill. */
const MIN_MINUTES_FOR_MEMORY = 10;
/** Ratio of memory in the last quarter of a run to the second quarter from which growth counts as a leak. */
const MAX_GROWTH_RATIO = 1.25;
const MAX_GROWTH_MIB = 20;

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

/** Checks that the memory of the server that ran throughout does not grow between the second and the last quarter. */
export function memoryInvariant(samples: readonly MemorySample[], minutes: number): Invariant {
  const name = "the memory of server C does not grow";
  if (minutes < MIN_MINUTES_FOR_MEMORY)
    return {
      name: `${name} (not judged in under ${MIN_MINUTES_FOR_MEMORY} minutes)`,
      checked: 0,
      broken: [],
    };
  const between = (from: number, to: number) =>
    median(
      samples
        .filter(({ minute }) => minute >= from * minutes && minute < to * minutes)
        .map((it) => it.mebibytes),
    );
  const [early, late] = [between(0.25, 0.5), between(0.75, 1)];
  const grows = late > early * MAX_GROWTH_RATIO + MAX_GROWTH_MIB;
  return {
    name: `${name}: ${early.toFixed(0)} MiB in the second quarter, ${late.toFixed(0)} MiB in the last`,
    checked: samples.length,
    broken: grows ? [`${early.toFixed(0)} MiB to ${late.toFixed(0)} MiB`] : [],
  };
}

export interface Results {
  readonly minutes: number;
  readonly installation: Installation;
  readonly client: Client;
  readonly traffic: Traffic;
  readonly follower: Follower;
  readonly faults: readonly FaultRun[];
  readonly drainSeconds: number | undefined;
  readonly invariants: readonly Invariant[];
}

/** One page: the traffic, the faults and the invariants. */
export function report(results: Results): string {
  const { minutes, client, traffic, follower, faults, drainSeconds, invariants } = results;
  const latencies = client.latenciesMs.toSorted((a, b) => a - b);
  const at = (part: number) => (latencies[Math.floor((latencies.length - 1) * part)] ?? 0).toFixed(0);
  const outcomes = [...client.outcomes].sort().map(([outcome, count]) => `${outcome}: ${count}`);
  return [
    `Soak test: ${minutes} minutes, three servers, one database`,
    "",
    "Traffic (rounds done, given up)",
    ...[...traffic.rounds].map(([name, { done, failed }]) => `  ${name.padEnd(20)} ${done} ${failed}`),
    `  Answers: ${outcomes.join(", ")}`,
    `  Latency, faults included: median ${at(0.5)} ms, 95th percentile ${at(0.95)} ms, slowest ${at(1)} ms`,
    `  Subscription: ${follower.ids.length} events, resumed ${follower.breaks} times`,
    "",
    "Faults (minute, seconds until all servers were ready)",
    ...faults.map(({ name, atMinute, recoverySeconds }) => {
      const seconds = recoverySeconds === undefined ? "NOT READY" : recoverySeconds.toFixed(1);
      return `  ${atMinute.toFixed(0).padStart(3)}  ${name.padEnd(70)} ${seconds}`;
    }),
    `  Backlog after the last: ${drainSeconds === undefined ? "NOT DRAINED" : `gone after ${drainSeconds.toFixed(0)} s`}`,
    "",
    `Errors in the logs (${results.installation.logs})`,
    ...loggedErrors(results.installation),
    "",
    "Invariants",
    ...invariants.flatMap(({ name, checked, broken }) => [
      `  ${broken.length === 0 ? "held  " : "BROKEN"} ${name} (${checked} checked${broken.length ? `, ${broken.length} broken` : ""})`,
      ...broken.slice(0, 5).map((example) => `           ${example}`),
    ]),
    "",
  ].join("\n");
}

function loggedErrors({ servers }: Installation): string[] {
  const all = new Map<string, number>();
  for (const { errors } of servers)
    for (const [text, count] of errors) all.set(text, (all.get(text) ?? 0) + count);
  const sorted = [...all].sort(([, a], [, b]) => b - a).slice(0, 12);
  return sorted.length === 0
    ? ["  none"]
    : sorted.map(([text, count]) => `  ${String(count).padStart(5)}  ${text}`);
}
