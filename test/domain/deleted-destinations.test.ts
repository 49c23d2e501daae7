import { beforeEach, expect, test } from "@jest/globals";
import { Client } from "pg";
import { sumDeliveries } from "../../src/events/events/delivery-sums";
import { removeDeliveries } from "../../src/events/webhooks/remove-deliveries";
import { jobOf } from "../../src/account/audit/note";
import { expireEvents } from "../../src/events/events/expire-events";
import { startApp, useApp } from "../support/app";
import { newChat, quietAssistant } from "../support/factories";
import { Receiver } from "../support/receiver";
import { afterTest } from "../support/server";
import { until } from "../support/until";

/** Nothing is sent unless a test starts another server. */
const running = useApp({ WORKER: "off" });

let receiver: Receiver;
let destinationId: string;
let projectId: string;
beforeEach(async () => {
  const { api } = running;
  receiver = await new Receiver().start();
  afterTest(() => receiver.stop());
  ({ id: projectId } = (await api.gql('mutation { createProject(input: { name: "P" }) { id } }'))
    .createProject as { id: string });
  const { createWebhookDestination } = await api.gql(
    `mutation ($input: CreateWebhookDestinationInput!) { createWebhookDestination(input: $input) { id } }`,
    { input: { url: receiver.url, secret: "s", projectId } },
  );
  ({ id: destinationId } = createWebhookDestination as { id: string });
  const assistantId = await quietAssistant(api);
  await api.gql(
    "mutation ($id: ID!, $projectId: ID!) { updateAssistant(id: $id, input: { projectId: $projectId }) { id } }",
    { id: assistantId, projectId },
  );
  for (let chat = 0; chat < 3; chat++) await newChat(api, assistantId);
});

const query = <R extends object>(text: string) => running.database.query<R>(text, [destinationId]);
const deliveries = () =>
  query<{ id: string; event_id: string; status: string }>(
    "select id, event_id, status from deliveries where destination_id = $1 order by id",
  );
const queues = () => query("select chat_id from delivery_queues where destination_id = $1");
const deletedBy = {
  "through REST": () => running.api.delete(`/rest/v1/settings/${destinationId}`, 200),
  "through GraphQL": () =>
    running.api.gql("mutation ($id: ID!) { deleteWebhookDestination(id: $id) { id } }", {
      id: destinationId,
    }),
  "with its project": () =>
    running.api.gql("mutation ($id: ID!) { deleteProject(id: $id) { id } }", { id: projectId }),
};
const organization = async () => ((await running.api.get("/rest/v1/organization", 200)) as { id: string }).id;
const remove = async () => {
  const scope = running.app.database.scope(await organization());
  await scope.transaction((scope) => removeDeliveries(scope, destinationId));
};

test.each(Object.entries(deletedBy))(
  "a destination that is deleted %s takes as long as one without deliveries, which a job removes",
  async (_, deletion) => {
    const [first] = await deliveries();
    const { id } = first!;
    const other = new Client({ connectionString: running.database.ownerUrl });
    await other.connect();
    // A deletion that removed deliveries would wait for this transaction.
    await other.query("begin");
    const lock = "select from deliveries where organization_id = $1 and id = $2 for update";
    await other.query(lock, [await organization(), id]);
    await deletion();
    await other.query("commit");
    await other.end();
    const jobs = await running.database.query<{ due: boolean }>(
      `select run_at > now() + interval '20 seconds' as due from graphile_worker.jobs where key = $1`,
      [`deliveries.remove:${await organization()}:${destinationId}`],
    );
    expect(jobs).toEqual([{ due: true }]);
    expect((await deliveries()).length).toBeGreaterThan(5);
    await remove();
    expect([await deliveries(), await queues()]).toEqual([[], []]);
  },
);

interface Counts {
  readonly deliveries: number;
  readonly pending: number;
}

const counted = async () => {
  const { analytics } = await running.api.gql("{ analytics(input: {}) { webhooks { deliveries pending } } }");
  return (analytics as { webhooks: Counts }).webhooks;
};

test("deliveries of a deleted destination are neither shown, nor counted, nor sent again", async () => {
  const { api } = running;
  const [first, ...others] = await deliveries();
  const { id } = first!;
  const before = await counted();
  await deletedBy["through REST"]();
  expect(await counted()).toEqual({
    deliveries: before.deliveries - 1 - others.length,
    pending: before.pending - 1 - others.length,
  });
  const NOT_FOUND = { extensions: { code: "DELIVERY_NOT_FOUND" } };
  expect(await api.gqlError("query ($id: ID!) { delivery(id: $id) { id } }", { id })).toMatchObject(
    NOT_FOUND,
  );
  const again = "mutation ($id: ID!) { redeliver(deliveryId: $id) { id } }";
  expect(await api.gqlError(again, { id })).toMatchObject(NOT_FOUND);
  expect(await api.gqlError("query ($ids: [ID!]!) { nodes(ids: $ids) { id } }", { ids: [id] })).toMatchObject(
    NOT_FOUND,
  );
});

test("pending deliveries of a deleted destination are not sent", async () => {
  await deletedBy["through REST"]();
  expect(await queues()).toHaveLength(3);
  const { stop } = await startApp(running.database, { WORKER: "on" });
  afterTest(stop);
  await until(async () => (await queues()).length === 0);
  expect(receiver.received).toEqual([]);
  expect((await deliveries()).filter(({ status }) => status === "PENDING")).toEqual([]);
});

test("sums are made of the deliveries of other destinations while those of a deleted one are still there", async () => {
  await running.api.post("/rest/v1/settings", { url: receiver.url, secret: "s" }, 201);
  await query("update deliveries set created_at = now() - interval '1 day' where destination_id = $1");
  await deletedBy["through REST"]();
  await sumDeliveries(running.app.database);
  expect(await query("select from delivery_sums where destination_id = $1")).toEqual([]);
  const [head] = await running.database.query<{ until: Date }>("select until from delivery_sum_heads");
  expect(head!.until.getTime()).toBeGreaterThan(Date.now() - 86_400_000);
});

test("events expire although a deleted destination has pending deliveries of them", async () => {
  await deletedBy["through REST"]();
  const left = async () =>
    await query("select from events where id in (select event_id from deliveries where destination_id = $1)");
  expect((await left()).length).toBeGreaterThan(0);
  await running.database.query("update events set created_at = now() - interval '11 days'");
  await running.database.query("update deliveries set next_attempt_at = now() - interval '11 days'");
  const scope = running.app.database.scope(await organization());
  await expireEvents(scope, 10, () => jobOf("retention.enforce", "Event", null));
  expect(await left()).toEqual([]);
});

test("a destination that an import has brought back keeps its deliveries", async () => {
  const found = await deliveries();
  await remove();
  expect(await deliveries()).toEqual(found);
});
