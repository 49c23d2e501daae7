import { monitorEventLoopDelay } from "node:perf_hooks";
import { Gauge, type Registry } from "prom-client";

/** Interval at which the delay is measured, in ms: each time wakes an idle process. */
const INTERVAL_MS = 200;
const NS_PER_SECOND = 1e9;
/** Quantiles by their label. */
const QUANTILES = { "0.5": 50, "0.99": 99, "1": 100 } as const;

/**
 * Adds a gauge of the event loop's delay since the last scrape, measured from the first one on. Node reports the time
 * between two measurements, so the interval is subtracted, which the gauges of prom-client do not do.
 */
export function addEventLoopGauge(registry: Registry): void {
  const histogram = monitorEventLoopDelay({ resolution: INTERVAL_MS });
  new Gauge({
    name: "parley_event_loop_delay_seconds",
    help: "Delay of the event loop since the last scrape, in seconds, as quantiles: 1 is the longest.",
    labelNames: ["quantile"],
    registers: [registry],
    collect() {
      for (const [quantile, percentile] of Object.entries(QUANTILES)) {
        const betweenSeconds = histogram.percentile(percentile) / NS_PER_SECOND;
        this.set({ quantile }, Math.max(0, betweenSeconds - INTERVAL_MS / 1_000));
      }
      histogram.enable();
      histogram.reset();
    },
  });
}
