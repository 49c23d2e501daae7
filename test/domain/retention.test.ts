import { beforeEach, describe, expect, test } from "@jest/globals";
import { enforceRetention } from "../../src/privacy/retention/enforce";
import { useApp } from "../support/app";
import { earlier } from "../support/earlier";
import { endChat, newChat, quietAssistant, say } from "../support/factories";
import { pagesOf, planOf, statementsOf } from "../support/plans";
import { until } from "../support/until";
import { connect } from "../support/sms";
import type { Api } from "../support/api";

const running = useApp({ WORKER: "on" });
const RETENTION = "logsDays recordingsDays eventsDays pending { kind days from }";
const UPDATE = `mutation ($input: UpdateRetentionInput!) { updateRetention(input: $input) { ${RETENTION} } }`;
const update = async (api: Api, input: object) => (await api.gql(UPDATE, { input })).updateRetention;
const state = async (api: Api) =>
  (await api.gql(`{ organization { warnings retention { ${RETENTION} } } }`)).organization;

let api: Api;
let organizationId: string;
let assistantId: string;
beforeEach(async () => {
  const other = await running.otherOrganization();
  ({ api, organizationId } = other);
  assistantId = await quietAssistant(api);
});

/** An ended chat with a message, of this many days ago. */
async function log(daysAgo: number): Promise<string> {
  const id = await newChat(api, assistantId, { uniqueId: "zoe" });
  await say(api, id, "Some words");
  await endChat(api, id);
  await age(id, daysAgo);
  return id;
}
async function age(id: string, days: number): Promise<void> {
  const { database } = running;
  const text = `update chats set started_at = ${earlier("started_at", "$2 * interval '1 day'")}, ended_at = ${earlier("ended_at", "$2 * interval '1 day'")} where id = $1`;
  await database.query(text, [id, days]);
}
/** Pretends that this many days have passed since the announcement. */
const noticePasses = (days: number) =>
  running.database.query(
    `update retentions set told_at = ${earlier("told_at", "$2 * interval '1 day'")} where organization_id = $1`,
    [organizationId, days],
  );
/** Runs the periodic job. */
async function enforce(): Promise<void> {
  const { database } = running;
  await database.query("select graphile_worker.add_job('retention.enforce', job_key => 'retention.enforce')");
  // Not the next run, which the worker plans meanwhile.
  const waiting =
    "select from graphile_worker.jobs where task_identifier = 'retention.enforce' and (run_at <= now() or attempts > 0)";
  // It rests four times as long as it works.
  await until(async () => (await database.query(waiting)).length === 0, 110_000);
}
const left = async (table: string, ids: readonly string[]): Promise<string[]> => {
  const column = table === "chats" ? "id" : "chat_id";
  const rows = await running.database.query<{ id: string }>(
    `select distinct ${column} as id from ${table} where ${column} = any($1) order by 1`,
    [ids],
  );
  return rows.map(({ id }) => id);
};

describe("retention", () => {
  test("keeps logs forever and events for 30 days by default", async () => {
    const days = { logsDays: null, recordingsDays: null, eventsDays: 30, pending: [] };
    expect(await state(api)).toEqual({ warnings: [], retention: days });
  });

  test("that is shortened deletes nothing before the days of notice are over", async () => {
    const ids = [await log(40), await log(20)];
    const changed = await update(api, { logsDays: 30 });
    expect(changed).toMatchObject({ logsDays: 30, pending: [{ kind: "LOGS", days: 30 }] });
    const { warnings } = await state(api);
    expect(warnings).toEqual([expect.stringMatching(/^Logs older than 30 days will be deleted from \d{4}-/)]);
    await enforce();
    await noticePasses(6.9);
    await enforce();
    expect(await left("chats", ids)).toEqual(ids);
    await noticePasses(0.2);
    await enforce();
    for (const table of ["chats", "messages", "events"])
      expect([table, await left(table, ids)]).toEqual([table, [ids[1]]]);
    expect((await state(api)).warnings).toEqual([]);
  });

  test("of logs counts from the end of a conversation, however long ago it began", async () => {
    const id = await log(20);
    const began = `update chats set started_at = ${earlier("started_at", "interval '30 days'")} where id = $1`;
    await running.database.query(began, [id]);
    const old = await log(40);
    await update(api, { logsDays: 30 });
    await noticePasses(8);
    await enforce();
    expect(await left("chats", [id, old])).toEqual([id]);
  });

  test("ends with the server: a run that is stopped deletes no further batch, and the next run goes on", async () => {
    const id = await log(40);
    await update(api, { logsDays: 30 });
    await noticePasses(8);
    await enforceRetention(running.app.database, AbortSignal.abort());
    expect(await left("chats", [id])).toEqual([id]);
    await enforce();
    expect(await left("chats", [id])).toEqual([]);
  });

  test("that is extended applies at once, and a shorter one is announced again", async () => {
    await update(api, { logsDays: 30 });
    await noticePasses(5);
    expect((await update(api, { logsDays: null })).pending).toEqual([]);
    await update(api, { logsDays: 30 });
    await noticePasses(6);
    await update(api, { logsDays: 10 });
    await noticePasses(2);
    const id = await log(40);
    await enforce();
    expect(await left("chats", [id])).toEqual([id]);
    expect((await state(api)).retention.pending).toMatchObject([{ days: 10 }]);
  });

  test("skips live conversations and those of other organizations", async () => {
    const live = await newChat(api, assistantId);
    await running.database.query(
      `update chats set started_at = ${earlier("started_at", "interval '90 days'")} where id = $1`,
      [live],
    );
    const theirs = await log(40);
    const { api: first } = running;
    ({ organizationId } = await running.otherOrganization());
    await update(first, { logsDays: 30 });
    await enforce();
    expect(await left("chats", [live, theirs])).toEqual([live, theirs].sort());
  });

  test("of recordings deletes their address, and the events that contain it", async () => {
    const id = await log(40);
    await running.database.query("update chats set recording_url = 'https://r.example/1.wav' where id = $1", [
      id,
    ]);
    await update(api, { recordingsDays: 10 });
    await noticePasses(8);
    await enforce();
    const { log: shown } = await api.gql(
      "query ($a: ID!, $id: ID!) { log(assistantId: $a, id: $id) { recordingUrl messages } }",
      { a: assistantId, id },
    );
    expect(shown).toMatchObject({ recordingUrl: "", messages: { items: [{ content: "Some words" }] } });
  });

  test("of many logs is completed in one run", async () => {
    const id = await log(40);
    const copy = `insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, started_at, ended_at)
      select organization_id, 'many-' || n, assistant_id, channel, status, status_event_id, started_at, ended_at from chats, generate_series(1, 110) n where id = $1`;
    await running.database.query(copy, [id]);
    await update(api, { logsDays: 30 });
    await noticePasses(8);
    await enforce();
    const text = "select from chats where organization_id = $1";
    expect(await running.database.query(text, [organizationId])).toEqual([]);
  });

  test("of logs deletes texts that belong to no conversation", async () => {
    const { database } = running;
    const { id: connectionId } = await connect({ ...running, api }, [assistantId]);
    for (const days of [2, 4]) {
      const at = `now() - ${days} * interval '1 day'`;
      await database.query(
        `insert into sms_received (organization_id, message_sid, connection_id, sms, outcome, created_at)
           values ($1, $2, $3, '{}', 'help', ${at})`,
        [organizationId, `SM${days}`, connectionId],
      );
      await database.query(
        `insert into sms_sent (organization_id, id, via, body, created_at) values ($1, $2, 'API', 'Hello', ${at})`,
        [organizationId, `SM${days}`],
      );
    }
    await update(api, { logsDays: 3 });
    await noticePasses(8);
    await enforce();
    const text = `select message_sid as id from sms_received where organization_id = $1
      union all select id from sms_sent where organization_id = $1`;
    expect(await database.query(text, [organizationId])).toEqual([{ id: "SM2" }, { id: "SM2" }]);
  });

  test.each([{ logsDays: 0 }, { eventsDays: 36_501 }, { recordingsDays: -1 }])(
    "cannot be %j",
    async (input) => {
      const error = await api.gqlError(UPDATE, { input });
      expect(error.extensions.code).toBe("BAD_USER_INPUT");
      expect(error.message).toContain(Object.keys(input)[0]);
    },
  );

  test("finds old logs by an index", async () => {
    const { database, app } = running;
    await database.query(
      `insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, started_at, ended_at)
       select $1, 'new-' || number, $2, 'TEXT', 'ended', '', at, at
       from generate_series(1, 5000) as number, lateral (select now() - number * interval '1 minute' as at) as time`,
      [organizationId, assistantId],
    );
    await database.query("analyze chats");
    await update(api, { logsDays: 30 });
    await noticePasses(8);
    const statements = await statementsOf(app.database, /^select "id" from "chats".* order by/, () =>
      enforceRetention(app.database),
    );
    const [own] = statements.filter(({ bindings }) => bindings.includes(organizationId));
    const plan = await planOf(database, own!);
    expect(JSON.stringify(plan)).toMatch(/"chats_of_organization_by_age(_\d+)?"/); // of a shard on Citus
    expect(pagesOf(plan)).toBeLessThan(100); // all logs have 140
  });
});
