import { Gauge, type Registry } from "prom-client";
import type { Database } from "../../platform/database/database";
import { Remembered } from "./remembered";

/** Readings are as old as this at most, in ms, so that ten scrapes cost the statements of one. */
const READINGS_AGE_MS = 10_000;
const ORGANIZATIONS_AGE_MS = 30_000;
/** Organizations that are named. Each makes a series. */
const BUSIEST = 10;
/** Longest time in ms that a scrape waits for the database, shorter than the timeout of Prometheus. */
const WAIT_MS = 2_000;

/** Gauges by the name of their reading, with the label of those that have several values. */
const GAUGES: Readonly<Record<string, { readonly help: string; readonly label?: string }>> = {
  jobs_waiting: { label: "task", help: "Jobs that are due but have not started, by task; counts 10,000." },
  jobs_oldest_waiting_seconds: {
    label: "task",
    help: "Time since the oldest waiting job was due, by task, in seconds.",
  },
  delivery_queues_due: {
    help: "Conversations and retries with webhook deliveries that are due; counts 100 per destination.",
  },
  delivery_destinations_due: { help: "Webhook destinations with deliveries that are due." },
  delivery_oldest_due_seconds: {
    help: "Time since the oldest waiting webhook delivery was due, in seconds.",
  },
  events_unsequenced: { help: "Recorded events without a position in their ledger; counts 10,000." },
  events_oldest_unsequenced_seconds: {
    help: "Age of the oldest event without a position, in seconds. Positions are assigned when events are read, or once a minute.",
  },
  live_conversations: { label: "channel", help: "Conversations that have not ended, by channel." },
};

export type DatabaseSource = Pick<Database, "readings" | "busiestOrganizations" | "hold">;

/**
 * Gauges of what the database contains, the same on all servers. It is read at a scrape, so a server that nobody
 * scrapes reads nothing. While the database does not answer in time, they have no values.
 */
export class DatabaseGauges {
  private readonly gauges: ReadonlyMap<string, Gauge>;
  private readonly organizations: Gauge;
  private readonly held: Gauge;
  private readonly readings: Remembered<Awaited<ReturnType<DatabaseSource["readings"]>>>;
  private readonly busiest: Remembered<Awaited<ReturnType<DatabaseSource["busiestOrganizations"]>>>;
  private readonly isHeld: Remembered<boolean>;

  constructor(registry: Registry, source: DatabaseSource) {
    const gauge = (name: string, help: string, label?: string) =>
      new Gauge({ name: `parley_${name}`, help, labelNames: label ? [label] : [], registers: [registry] });
    const all = Object.entries(GAUGES);
    this.gauges = new Map(all.map(([name, { help, label }]) => [name, gauge(name, help, label)]));
    this.organizations = gauge(
      "organization_events_per_second",
      "Events per second of the 10 busiest organizations during the last hour, or during the newest 10,000 events.",
      "organization",
    );
    this.held = gauge(
      "held",
      "1 if the installation is held after a restore or a move, so that it sends nothing; else 0.",
    );
    this.readings = new Remembered(READINGS_AGE_MS, WAIT_MS, source.readings);
    this.busiest = new Remembered(ORGANIZATIONS_AGE_MS, WAIT_MS, () => source.busiestOrganizations(BUSIEST));
    this.isHeld = new Remembered(READINGS_AGE_MS, WAIT_MS, async () => (await source.hold()) !== undefined);
  }

  /** Reads the values that are too old. Never throws. */
  async refresh(): Promise<void> {
    const values = [this.readings.get(), this.busiest.get(), this.isHeld.get()] as const;
    const [readings, busiest, isHeld] = await Promise.all(values);
    for (const gauge of [...this.gauges.values(), this.organizations, this.held]) clear(gauge);
    if (isHeld !== undefined) this.held.set(isHeld ? 1 : 0);
    for (const { name, label, value } of readings ?? []) this.set(name, label, value);
    for (const { organizationId, perSecond } of busiest ?? [])
      this.organizations.set({ organization: organizationId }, perSecond);
  }

  /** A newer server may have added a reading that this one does not know. */
  private set(name: string, label: string | null, value: number): void {
    const { label: labelName } = GAUGES[name] ?? {};
    if (labelName === undefined) this.gauges.get(name)?.set(value);
    else this.gauges.get(name)!.set({ [labelName]: label ?? "" }, value);
  }
}

/** Removes all values: `reset` would set those without a label to 0. */
function clear(gauge: Gauge): void {
  gauge.reset();
  gauge.remove({});
}
