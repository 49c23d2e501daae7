import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { slowTasks } from "../../src/worker/tasks";
import { useApp } from "../support/app";
import { receiptOf } from "../support/erasures";
import { newAssistant } from "../support/factories";
import { unchecked } from "../support/plans";

const running = useApp({ WORKER: "off" });
/** Conversations of one message. */
const LONG = 200;
/** Messages in a single conversation, which is the newest. */
const MESSAGES = 150;
/** Time that a slow database takes for each message, in seconds. A part of a search may take 1 s, and a statement 5 s. */
const SLOW = 0.02;

let assistantId: string;

beforeAll(async () => {
  assistantId = await newAssistant(running.api);
  const { query } = running.database;
  await query(
    unchecked(`insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, label, started_at)
     select organization_id, 'log-' || n, id, 'TEXT', 'ended', 'none', 'Caller', now() - n * interval '1 minute'
     from assistants, generate_series(0, ${LONG}) n where id = '${assistantId}'`),
  );
  await query(
    unchecked(`insert into messages (organization_id, id, chat_id, assistant_id, sequence, role, channel, content)
     select organization_id, id || '-' || n, id, assistant_id, n, 'USER', 'TEXT',
       case when n > 1 and n > last then 'A zugzwang' else 'where is the parcel' end
     from (select *, case id when 'log-0' then ${MESSAGES} else 1 end as last from chats where assistant_id = '${assistantId}') as long,
       generate_series(1, last + case when id in ('log-0', 'log-${LONG / 2}') then 1 else 0 end) n`),
  );
  await query("vacuum analyze messages");
  await query(`create policy slow on messages as restrictive for select using (${sleeping(SLOW)})`);
}, 120_000);

const sleeping = (seconds: number) => `pg_sleep(${seconds})::text = ''`;

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
    expect(first.warning).toMatch(/The messages of the log log-0 were searched only up to number [1-9]/);
    const second = await search(first.next!);
    expect(second.next).not.toBe(first.next);
    const behind = await search(`/rest/v1/assistants/${assistantId}/logs?search=zz&after=log-0`);
    expect(behind).toMatchObject({ ids: [], warning: expect.stringMatching(/newest ([2-9]|\d\d) logs/) });
  });

  describe("is continued within a conversation that alone takes longer", () => {
    const slower = (seconds: number) =>
      running.database.query(`alter policy slow on messages using (${sleeping(seconds)})`);
    beforeAll(() => slower(SLOW / 2));
    afterAll(() => slower(SLOW));

    /** The last message of each contains it. */
    const matches = ["log-0", `log-${LONG / 2}`];

    test("by the link on REST", async () => {
      const found: string[] = [];
      const warnings: string[] = [];
      const first = `/rest/v1/assistants/${assistantId}/logs?search=gz&take=2`;
      for (let next: string | undefined = first; next !== undefined;) {
        const page: Page = await search(next);
        found.push(...page.ids);
        warnings.push(page.warning ?? "");
        next = page.next;
      }
      expect(found).toEqual(matches);
      expect(warnings[0]).toContain("log-0 were searched only up to number");
    });

    test("by the cursor in GraphQL, also from the end of the list", async () => {
      const query = `query ($id: ID!, $before: String) {
        logs(last: 1, before: $before, orderBy: OLDEST_FIRST, filter: { assistantId: $id, search: "gz" }) {
          nodes { id } pageInfo { hasPreviousPage startCursor } } }`;
      const found: string[] = [];
      for (let before: string | null = null; found.length < 2;) {
        const { logs } = await running.api.gql(query, { id: assistantId, before });
        found.push(...(logs.nodes as { id: string }[]).map(({ id }) => id));
        if (!logs.pageInfo.hasPreviousPage) break;
        before = logs.pageInfo.startCursor as string;
      }
      expect(found).toEqual(matches);
    });
  });

  test("finds a conversation that alone takes longer by its label", async () => {
    await running.database.query("update chats set label = 'Zqz' where id = 'log-0'");
    const path = `/rest/v1/assistants/${assistantId}/logs?search=zq`;
    expect(await search(path)).toMatchObject({ ids: ["log-0"] });
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
  expect(receipt).toEqual({ matched: 2, status: "PENDING" }); // counted by a function, which policies do not slow down
  const [organization] = await database.query<{ id: string }>(
    "select organization_id as id from assistants where id = $1",
    [assistantId],
  );
  // Several parts are still needed to find the logs, but one statement has the time to delete the longest.
  await database.query(`alter policy slow on messages using (${sleeping(SLOW / 3)})`);
  await slowTasks["erasure.run"].run(app.database.scope(organization!.id), { erasureId });
  expect(await receiptOf(running, erasureId)).toMatchObject({ status: "DONE", matched: 2, chats: 2 });
  const gone =
    "select 'log-' || n as id from generate_series(0, $1::integer) n except select id from chats order by 1";
  expect(await database.query(gone, [LONG])).toEqual([{ id: "log-0" }, { id: `log-${LONG / 2}` }]);
});
