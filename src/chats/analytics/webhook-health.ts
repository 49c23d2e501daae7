import { DELIVERY_BOUNDS } from "../../events/events/delivery-sums";
import { NEWEST_FIRST } from "../../platform/database/lists/order";
import type { Scope } from "../../platform/database/scope";
import { deliverySlices, type DeliverySlice } from "./delivery-slices";
import { addUp, bucketsOf, percentile } from "./histogram";
import { daysOf, type Period } from "./period";

/** Counts of deliveries, of one day or all days. */
export interface DeliveryCounts extends Omit<DeliverySlice, "day" | "times"> {
  readonly deliveries: number;
  readonly medianMs: number | null;
}

export interface FailingDestination {
  readonly id: string;
  readonly name: string | null;
  /** Without the path, which may hold a secret. */
  readonly host: string;
  readonly enabled: boolean;
  readonly failingSince: Date | null;
  readonly failures: number;
}

export interface WebhookHealth extends DeliveryCounts {
  readonly days: (DeliveryCounts & { readonly date: string })[];
}

/** Statistics of the deliveries created in a period, of the organization or a project. */
export async function webhookHealth(
  scope: Scope,
  period: Period,
  projectId: string | null,
): Promise<WebhookHealth> {
  const slices = scope.assistantIds ? [] : await deliverySlices(scope, period, projectId);
  const days = daysOf(period).map((date) => ({
    date,
    ...countsOf(slices.filter(({ day }) => day === date)),
  }));
  return { ...countsOf(slices), days };
}

function countsOf(slices: readonly DeliverySlice[]): DeliveryCounts {
  const count = (of: (slice: DeliverySlice) => number) => slices.reduce((sum, slice) => sum + of(slice), 0);
  const times = addUp(slices.map((slice) => slice.times));
  return {
    deliveries: count(({ delivered, failed, pending }) => delivered + failed + pending),
    delivered: count(({ delivered }) => delivered),
    failed: count(({ failed }) => failed),
    pending: count(({ pending }) => pending),
    retried: count(({ retried }) => retried),
    medianMs: percentile(bucketsOf(DELIVERY_BOUNDS, times), 0.5) ?? null,
  };
}

/** Destinations whose latest attempts have all failed, or that are disabled. */
export async function failingDestinations(
  scope: Scope,
  projectId: string | null,
): Promise<FailingDestination[]> {
  if (scope.assistantIds) return [];
  const rows = scope
    .table("webhook_destinations")
    .select("id", "name", "url", "enabled", "failingSince", "failures")
    .where((either) => either.whereNotNull("failingSince").orWhere({ enabled: false }))
    .orderBy(NEWEST_FIRST);
  const found = await (projectId === null ? rows : rows.where({ projectId }));
  return found.map(({ url, ...row }) => ({
    ...row,
    host: new URL(url).host,
  }));
}
