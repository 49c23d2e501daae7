import { beforeEach, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import { jobOf } from "../../src/account/audit/note";
import { expireEvents } from "../../src/events/events/expire-events";
import { enforceRetention } from "../../src/privacy/retention/enforce";
import { useApp } from "../support/app";
import { someoneWaits } from "../support/database";
import { until } from "../support/until";

const running = useApp({ WORKER: "on", EVENT_RETENTION_DAYS: "10" });

let organizationId: string;
let destinationId: string;
beforeEach(async () => {
  const { api, database } = running;
  await database.query("delete from events");
  ({ id: organizationId } = await api.get("/rest/v1/organization", 200));
  const url = "http://127.0.0.1:9/events"; // nobody is there
  ({ id: destinationId } = await api.post("/rest/v1/settings", { url, secret: "s" }, 201));
});

/** Events of this many days ago, named by their age. */
async function happened(daysAgo: number, count = 1): Promise<void> {
  await running.database.query(
    `insert into events (organization_id, id, name, type, assistant_id, body, created_at)
     select $1, $2 || '-' || n, 'session-start', 'TEXT', 'a', '{}', now() - $2::text::float8 * interval '1 day' from generate_series(1, $3) n`,
    [organizationId, String(daysAgo), count],
  );
}
/** A delivery of the only event of that age, last tried this many days ago. */
const sent = (eventDaysAgo: number, triedDaysAgo: number, status: string) =>
  running.database.query(
    `insert into deliveries (organization_id, id, event_id, destination_id, status, next_attempt_at)
     values ($1, $2 || $4, $2 || '-1', $3, $4, now() - $5::float8 * interval '1 day')`,
    [organizationId, String(eventDaysAgo), destinationId, status, triedDaysAgo],
  );
/** Deletes older events of every organization. */
async function expire(days: number): Promise<void> {
  const { database } = running.app;
  for (const id of await database.everyOrganization()) {
    const operation = () => jobOf("retention.enforce", "Event", null);
    let reached: string | undefined = "";
    while (reached !== undefined) reached = await expireEvents(database.scope(id), days, operation, reached);
  }
}
const left = async (): Promise<string[]> => {
  const rows = await running.database.query<{ id: string }>("select id from events order by created_at");
  return rows.map(({ id }) => id);
};

describe("events", () => {
  test("are deleted after their days, with their deliveries", async () => {
    for (const days of [0, 29.9, 30.1, 400]) await happened(days);
    await sent(400, 399, "FAILED");
    await sent(30.1, 30.05, "DELIVERED");
    await expire(30);
    expect(await left()).toEqual(["29.9-1", "0-1"]);
    expect(await running.database.query("select id from deliveries")).toEqual([]);
  });

  test("stay while a delivery is pending or was attempted within these days", async () => {
    for (const days of [40, 50, 60]) await happened(days);
    await sent(60, 45, "PENDING");
    await sent(50, 3, "FAILED");
    await sent(40, 39, "FAILED");
    await expire(30);
    expect(await left()).toEqual(["60-1", "50-1"]);
  });

  test("stay if a delivery is added while they are being deleted", async () => {
    for (const days of [40, 50]) await happened(days);
    const replay = new Client({ connectionString: running.database.ownerUrl });
    await replay.connect();
    await replay.query("begin");
    await replay.query(
      `insert into deliveries (organization_id, id, event_id, destination_id) values ($1, 'again', '50-1', $2)`,
      [organizationId, destinationId],
    );
    const expired = expire(30);
    await until(() => someoneWaits(running.database));
    await replay.query("commit");
    await replay.end();
    await expired;
    expect(await left()).toEqual(["50-1"]);
    expect(await running.database.query("select id from deliveries")).toEqual([{ id: "again" }]);
  });

  test("that stay do not keep later ones from being deleted", async () => {
    await happened(50, 5_100);
    await running.database.query(
      `insert into deliveries (organization_id, id, event_id, destination_id) select organization_id, id, id, $1 from events`,
      [destinationId],
    );
    await happened(60, 3);
    await enforceRetention(running.app.database);
    expect((await left()).filter((id) => id.startsWith("60"))).toEqual([]);
    await running.database.query("delete from events");
  });

  test("are deleted in every organization, however many there are", async () => {
    const other = await running.otherOrganization();
    await happened(40, 1_300);
    organizationId = other.organizationId;
    await happened(41, 200);
    await happened(1);
    await expire(30);
    expect(await left()).toEqual(["1-1"]);
  });

  test("are deleted by a job after EVENT_RETENTION_DAYS", async () => {
    await happened(9);
    await happened(11);
    await running.database.query("select graphile_worker.add_job('retention.enforce')");
    await until(async () => (await left()).length <= 1);
    expect(await left()).toEqual(["9-1"]);
  });

  test("are deleted periodically", async () => {
    const known = async () => {
      const rows = await running.database.query<{ key: string | null }>(
        "select key from graphile_worker.jobs",
      );
      return rows.map(({ key }) => key);
    };
    await until(async () => (await known()).includes("retention.enforce"));
  });
});
