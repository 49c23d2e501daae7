import { FilteredStatement, type Conditions } from "../../platform/database/filtered-statement";
import { NEWEST_FIRST } from "../../platform/database/order";
import { replicated } from "../../platform/database/replicated";
import type { Scope } from "../../platform/database/scope";
import { addUp, bucketsOf, DELIVERY_BOUNDS, percentile } from "./histogram";
import { daysOf, type Period } from "./period";

/** Counts of deliveries, of one day or all days. */
export interface DeliveryCounts {
  readonly deliveries: number;
  readonly delivered: number;
  readonly failed: number;
  readonly pending: number;
  /** Tried more than once, whatever their status. */
  readonly retried: number;
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

interface DeliveryGroup {
  readonly day: string;
  readonly status: "PENDING" | "DELIVERED" | "FAILED";
  readonly retried: boolean;
  /** Index of the histogram bucket of the response time; null unless delivered. */
  readonly bucket: number | null;
  readonly count: number;
}

const CONDITIONS: Conditions<"projectId"> = {
  projectId: (rows, value, { table }) =>
    rows.whereIn("destinationId", table("webhook_destinations").select("id").where({ projectId: value })),
};

/** Not prepared, because a day and a year need different plans. */
const GROUPS = new FilteredStatement<DeliveryGroup, "projectId">(
  CONDITIONS,
  ({ table, $, db, narrowed }) =>
    narrowed(table("deliveries").where("createdAt", ">=", $(1)).where("createdAt", "<", $(2)))
      .select(db.raw("(created_at at time zone ?)::date::text as day", [$(3)]), "status")
      .select(db.raw("attempt > 1 as retried, count(*)::float8 as count"))
      .select(db.raw(`width_bucket(duration_ms, array[${DELIVERY_BOUNDS.join(", ")}]) as bucket`))
      .groupByRaw("(created_at at time zone ?)::date, 2, 3, 5", [$(3)]),
  false,
);

/** Statistics of the deliveries created in a period, of the organization or a project. */
export async function webhookHealth(
  scope: Scope,
  period: Period,
  projectId: string | null,
): Promise<WebhookHealth> {
  const { from, to, timezone } = period;
  const { statement, values } = GROUPS.by({ projectId });
  const all = [from, to, timezone, ...values];
  const groups = scope.assistantIds
    ? []
    : await replicated(scope, (reader) => reader.readLong(statement, all));
  const days = daysOf(period).map((date) => ({
    date,
    ...countsOf(groups.filter(({ day }) => day === date)),
  }));
  return { ...countsOf(groups), days };
}

function countsOf(groups: readonly DeliveryGroup[]): DeliveryCounts {
  const count = (matches: (group: DeliveryGroup) => boolean) =>
    groups.filter(matches).reduce((sum, { count }) => sum + count, 0);
  const times = addUp(
    groups.map(({ bucket, count }) =>
      [0, ...DELIVERY_BOUNDS].map((_, index) => (index === bucket ? count : 0)),
    ),
  );
  return {
    deliveries: count(() => true),
    delivered: count(({ status }) => status === "DELIVERED"),
    failed: count(({ status }) => status === "FAILED"),
    pending: count(({ status }) => status === "PENDING"),
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
