import { beforeAll, describe, expect, test } from "@jest/globals";
import { slowTasks } from "../../src/worker/tasks";
import { useApp } from "../support/app";
import { receiptOf } from "../support/erasures";
import { newAssistant } from "../support/factories";
import { unchecked } from "../support/plans";

const running = useApp({ WORKER: "off" });
/** Conversations of one message of 1 MiB. PostgreSQL searches some 30 MiB per second, and a statement may take 5 s. */
const LONG = 200;
/** Messages of 1 MiB in a single conversation, which is the newest. */
const MESSAGES = 150;

let assistantId: string;

beforeAll(async () => {
  assistantId = await newAssistant(running.api);
  const { query } = running.database;
  await query("drop index messages_search"); // no search below could use it, and filling it takes long
  await query(
    unchecked(`insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, label, started_at)
     select organization_id, 'log-' || n, id, 'TEXT', 'ended', 'none', 'Caller', now() - n * interval '1 minute'
     from assistants, generate_series(0, ${LONG}) n where id = '${assistantId}'`),
  );
  await query(
    unchecked(`insert into messages (organization_id, id, chat_id, assistant_id, sequence, role, channel, content)
     select organization_id, id || '-1', id, assistant_id, 1, 'USER', 'TEXT', repeat('where is the parcel ', 52000)
     from chats where id = 'log-0'`),
  );
  // Copies share the work of compressing the first one.
  await query(
    unchecked(`insert into messages (organization_id, id, chat_id, assistant_id, sequence, role, channel, content)
     select organization_id, 'log-0-' || n, chat_id, assistant_id, n, role, channel, content
     from messages, generate_series(2, ${MESSAGES}) n
     union all select organization_id, 'log-' || n || '-1', 'log-' || n, assistant_id, 1, role, channel, content
     from messages, generate_series(1, ${LONG}) n`),
  );
  await query(
    unchecked(`insert into messages (organization_id, id, chat_id, assistant_id, sequence, role, channel, content)
     select organization_id, chat_id || '-end', chat_id, assistant_id, sequence + 1, role, channel, 'A zugzwang'
     from messages where id in ('log-0-${MESSAGES}', 'log-${LONG / 2}-1')`),
  );
  await query("vacuum analyze messages");
}, 120_000);

interface Page {
  readonly warning: string | null;
  readonly ids: readonly string[];
  readonly next: string | undefined;
}

/** A page of a search for letters that no conversation contains. */
async function search(path: string): Promise<Page> {
  const { status, headers, body } = await running.api.request("GET", path);
  expect(status).toBe(200);
  const link = headers.get("link");
  const next = link === null ? undefined : /^<(\/[^>]+)>; rel="next"$/.exec(link)![1];
  return { warning: headers.get("warning"), ids: (body as { id: string }[]).map(({ id }) => id), next };
}

describe("a search that no index can serve", () => {
  test("is limited in a conversation that alone takes longer, and then in as many as there was time for", async () => {
    const first = await search(`/rest/v1/assistants/${assistantId}/logs?search=zz`);
    expect(first).toMatchObject({ ids: [], warning: expect.stringContaining("to the newest log of") });
    const second = await search(first.next!);
    expect(second).toMatchObject({ ids: [], warning: expect.stringMatching(/newest ([2-9]|\d\d) logs/) });
    expect(second.next).not.toBe(first.next);
  });

  test("is limited among the oldest conversations", async () => {
    const { warning } = await search(`/rest/v1/assistants/${assistantId}/logs?search=zz&order=asc`);
    expect(warning).toMatch(/to the oldest ([2-9]|\d\d) logs/);
  });
});

test("logs are deleted by a search that no index can serve", async () => {
  const { api, app, database } = running;
  const filter = { assistantId, search: "gz" };
  const remove = "mutation ($filter: LogFilter!) { deleteLogs(filter: $filter) { id matched status } }";
  const { id: erasureId, ...receipt } = (await api.gql(remove, { filter })).deleteLogs;
  expect(receipt).toEqual({ matched: 0, status: "PENDING" });
  const [organization] = await database.query<{ id: string }>(
    "select organization_id as id from assistants where id = $1",
    [assistantId],
  );
  await slowTasks["erasure.run"].run(app.database.scope(organization!.id), { erasureId });
  expect(await receiptOf(running, erasureId)).toMatchObject({ status: "DONE", matched: 2, chats: 2 });
  const gone =
    "select 'log-' || n as id from generate_series(0, $1::integer) n except select id from chats order by 1";
  expect(await database.query(gone, [LONG])).toEqual([{ id: "log-0" }, { id: `log-${LONG / 2}` }]);
});
