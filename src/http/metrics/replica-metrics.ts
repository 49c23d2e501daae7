import { Counter, Gauge, type Registry } from "prom-client";
import type { ReadReplica } from "../../platform/ports/ports";
import { Remembered } from "./remembered";

/** The lag is as old as this at most, in ms. */
const LAG_AGE_MS = 10_000;
/** Longest time in ms that a scrape waits for both databases. */
const WAIT_MS = 2_000;

/** Metrics of the read replica: who answers the reads that it may answer, and its lag. */
export class ReplicaMetrics {
  private readonly reads: Counter;
  private readonly lag: Gauge;
  private lagBytes: Remembered<number> | undefined;

  constructor(registry: Registry) {
    const registers = [registry];
    this.reads = new Counter({
      name: "parley_replica_reads_total",
      help: "Reads that a replica may answer, by the database that answered: replica, or primary because the replica was away, lagged or canceled the read. 0 without a replica.",
      labelNames: ["database"],
      registers,
    });
    for (const database of ["replica", "primary"]) this.reads.inc({ database }, 0);
    this.lag = new Gauge({
      name: "parley_replica_lag_bytes",
      help: "Log of the primary that the replica has not replayed, in bytes; no value without a replica, or while one of both does not answer.",
      registers,
    });
    this.lag.remove({});
  }

  readonly countRead: ReadReplica["countRead"] = (database) => this.reads.inc({ database });

  /** @param lagBytes rejects if it is not known */
  watch(lagBytes: () => Promise<number>): void {
    this.lagBytes = new Remembered(LAG_AGE_MS, WAIT_MS, lagBytes);
  }

  /** Reads the lag if it is too old. Never throws. */
  async refresh(): Promise<void> {
    const bytes = await this.lagBytes?.get();
    if (bytes === undefined) this.lag.remove({});
    else this.lag.set(bytes);
  }
}
