import { beforeAll, expect, test } from "@jest/globals";
import { sumDeliveries } from "../../src/events/events/delivery-sums";
import { useApp } from "../support/app";
import { nodesOf, pagesOf, planOf, statementsOf, unchecked } from "../support/plans";

const running = useApp();

const DAYS = 90;
const DELIVERIES = 20_000;
/** Pages of 8 kB that a statement may read: the sums of each quarter of an hour. A full read takes more than 1,000. */
const MOST_BUFFERS = 500;

const REPORT = `query ($input: AnalyticsInput!) { analytics(input: $input) {
  webhooks { deliveries delivered failed pending retried days { date deliveries } } } }`;
const input = () => ({ from: new Date(Date.now() - DAYS * 86_400_000), to: new Date() });
const webhooks = async () => (await running.api.gql(REPORT, { input: input() })).analytics.webhooks;

beforeAll(async () => {
  const { api, database } = running;
  const hook = { url: "http://127.0.0.1:1/", secret: "s" };
  const { id } = await api.post("/rest/v1/settings", hook, 201);
  const organization = (await api.get("/rest/v1/organization", 200)).id;
  await database.query(
    unchecked(`insert into deliveries (organization_id, id, event_id, destination_id, status, attempt, attempts, created_at, duration_ms)
     select '${organization}', 'delivery-' || n, 'event-' || n, '${id}', case when n % 50 = 0 then 'FAILED' else 'DELIVERED' end,
       1 + n % 3, jsonb_build_array(repeat('answer', 60)), now() - n::float8 / ${DELIVERIES} * interval '${DAYS} days', n % 12000
     from generate_series(1, ${DELIVERIES}) n`),
  );
  await database.query("vacuum analyze deliveries");
});

test("statistics of deliveries read the sums, and the deliveries of the last minutes alone", async () => {
  const { database, app } = running;
  const before = await webhooks();
  expect(before.deliveries).toBeGreaterThan(DELIVERIES - 10);
  await sumDeliveries(app.database, { most: 0.3 * DELIVERIES });
  const [sums] = await database.query<{ transactions: number }>(
    "select count(distinct xmin::text)::integer as transactions from delivery_sums",
  );
  expect(sums!.transactions).toBeGreaterThan(2);
  expect(sums!.transactions).toBeLessThan(7);
  await database.query("vacuum analyze delivery_sums");
  let after: unknown;
  const [sent] = await statementsOf(app.database, /delivery_sums/, async () => (after = await webhooks()));
  expect(after).toEqual(before);
  const plan = await planOf(database, sent!);
  expect(pagesOf(plan)).toBeLessThan(MOST_BUFFERS);
  expect(nodesOf(plan).filter((node) => node["Node Type"] === "Seq Scan" && node["Actual Rows"] > 1)).toEqual(
    [],
  );
});
