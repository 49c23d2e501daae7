import { Gauge, type Registry } from "prom-client";
import type { PoolUse } from "../../platform/ports/work-reports";

/** Gauges of the connection pools of this process, read at each scrape. */
export class PoolGauges {
  private readonly pools = new Map<string, () => PoolUse>();

  constructor(registry: Registry) {
    const registers = [registry];
    const watched = () => [...this.pools].map(([pool, use]) => ({ pool, ...use() }));
    new Gauge({
      name: "parley_database_connections",
      help: "Connections to the database by pool (requests, jobs, deliveries, worker) and state: used or idle.",
      labelNames: ["pool", "state"],
      registers,
      collect() {
        for (const { pool, used, idle } of watched()) {
          this.set({ pool, state: "used" }, used);
          this.set({ pool, state: "idle" }, idle);
        }
      },
    });
    new Gauge({
      name: "parley_database_connections_max",
      help: "Largest number of connections by pool.",
      labelNames: ["pool"],
      registers,
      collect() {
        for (const { pool, most } of watched()) this.set({ pool }, most);
      },
    });
    new Gauge({
      name: "parley_database_connections_waiting",
      help: "Statements that wait for a connection, by pool.",
      labelNames: ["pool"],
      registers,
      collect() {
        for (const { pool, waiting } of watched()) this.set({ pool }, waiting);
      },
    });
  }

  /** Adds a pool, or replaces the one of the same name. */
  watch(name: string, use: () => PoolUse): void {
    this.pools.set(name, use);
  }
}
