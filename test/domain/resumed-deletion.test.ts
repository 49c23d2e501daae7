import { expect, test } from "@jest/globals";
import { slowTasks } from "../../src/worker/tasks";
import { useApp } from "../support/app";
import { receiptOf } from "../support/erasures";
import { newAssistant } from "../support/factories";
import { statementsOf, unchecked } from "../support/plans";

const running = useApp({ WORKER: "off" });
/** A statement searches 500 logs. */
const LOGS = 1_200;

test.each([
  ["that no index can serve", { search: "gz" }, 2],
  ["of all logs of an assistant", {}, LOGS],
])("a deletion %s continues where it was interrupted", async (_what, condition, matched) => {
  const { api, app, database } = running;
  const assistantId = await newAssistant(api);
  const [organization] = await database.query<{ id: string }>(
    "select organization_id as id from assistants where id = $1",
    [assistantId],
  );
  // The time in these ids is not that of their start, as for imported logs.
  await database.query(
    unchecked(`insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, label, started_at)
     select organization_id, id || '-' || n, id, 'TEXT', 'ended', 'none', case when n in (10, ${LOGS - 10}) then 'zugzwang' else 'Caller' end,
       now() - interval '1 year' + n * interval '1 minute' from assistants, generate_series(1, ${LOGS}) n where id = '${assistantId}'`),
  );
  const remove = "mutation ($filter: LogFilter!) { deleteLogs(filter: $filter) { id } }";
  const filter = { assistantId, ...condition };
  const { id: erasureId } = (await api.gql(remove, { filter })).deleteLogs;
  const run = () => slowTasks["erasure.run"].run(app.database.scope(organization!.id), { erasureId });
  const searches = (work: () => Promise<unknown>) =>
    statementsOf(app.database, /^(\(select [^]*union all|select "id", "channel", "label".* limit \$)/, work);

  await database.query(`create function interrupt() returns trigger language plpgsql as $$ begin raise 'interrupted'; end $$;
    create trigger interrupt before delete on chats for each row when (old.id = '${assistantId}-${LOGS - 10}') execute function interrupt()`);
  const before = await searches(() => expect(run()).rejects.toThrow("interrupted"));
  expect(before).toHaveLength(3);
  await database.query("drop trigger interrupt on chats; drop function interrupt");
  expect(await searches(run)).toHaveLength(1);
  expect(await receiptOf(running, erasureId)).toMatchObject({ status: "DONE", matched, chats: matched });
  const left = await database.query("select id from chats where assistant_id = $1", [assistantId]);
  expect(left).toHaveLength(LOGS - matched);
});

test("deletes the logs of a common word in parts, and keeps those that began after the request", async () => {
  const { api, app, database } = running;
  const assistantId = await newAssistant(api);
  const store = (from: number, to: number, start: string) =>
    database.query(
      unchecked(`insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, label, started_at)
       select organization_id, id || '-' || n, id, 'TEXT', 'ended', 'none', 'Parcel', ${start} from assistants, generate_series(${from}, ${to}) n
       where id = '${assistantId}'`),
    );
  await store(1, LOGS, "now() - interval '1 day'"); // all at the same time
  const remove = `mutation { deleteLogs(filter: { assistantId: "${assistantId}", search: "parcel" }) { id matched } }`;
  const { id: erasureId, matched } = (await api.gql(remove)).deleteLogs;
  expect(matched).toBe(LOGS);
  await store(LOGS + 1, LOGS + 3, "now()");
  const [organization] = await database.query<{ id: string }>(
    "select organization_id as id from erasures where id = $1",
    [erasureId],
  );
  await slowTasks["erasure.run"].run(app.database.scope(organization!.id), { erasureId });
  expect(await receiptOf(running, erasureId)).toMatchObject({ status: "DONE", matched: LOGS, chats: LOGS });
  expect(await database.query("select id from chats where assistant_id = $1", [assistantId])).toHaveLength(3);
});
