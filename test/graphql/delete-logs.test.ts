import { beforeEach, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { erased } from "../support/erasures";
import { endChat, newChat, quietAssistant, say, UNKNOWN_ID } from "../support/factories";

const running = useApp({ WORKER: "on" });
const DELETE = "mutation ($a: ID!, $id: ID!) { deleteLog(assistantId: $a, id: $id) { id } }";
const DELETE_ALL =
  "mutation ($filter: LogFilter!) { deleteLogs(filter: $filter) { id subject status matched chats } }";
const LOGS = "query ($a: ID!) { assistant(id: $a) { logs(take: 100) { id } } }";

let a: string;
beforeEach(async () => {
  a = await quietAssistant(running.api);
});
const logs = async (): Promise<string[]> =>
  (await running.api.gql(LOGS, { a })).assistant.logs.map(({ id }: { id: string }) => id);
async function log(words: string): Promise<string> {
  const id = await newChat(running.api, a);
  await say(running.api, id, words);
  await endChat(running.api, id);
  return id;
}
const count = async (table: string, id: string): Promise<number> =>
  (await running.database.query(`select from ${table} where chat_id = $1`, [id])).length;

describe("deleteLog", () => {
  test("deletes a log with its messages and events, and no other", async () => {
    const [gone, kept] = [await log("One"), await log("Two")];
    expect((await running.api.gql(DELETE, { a, id: gone })).deleteLog).toEqual({ id: gone });
    expect(await logs()).toEqual([kept]);
    for (const table of ["messages", "events"]) {
      expect(await count(table, gone)).toBe(0);
      expect(await count(table, kept)).toBeGreaterThan(0);
    }
    expect((await running.api.gqlError(DELETE, { a, id: gone })).extensions.code).toBe("LOG_NOT_FOUND");
  });

  test("refuses a live conversation and explains what to do", async () => {
    const id = await newChat(running.api, a);
    const error = await running.api.gqlError(DELETE, { a, id });
    expect(error.extensions.code).toBe("CHAT_LIVE");
    expect(error.message).toContain("end it before");
    expect(await logs()).toEqual([id]);
  });

  test("does not find logs of another assistant or organization", async () => {
    const id = await log("Words");
    const another = await quietAssistant(running.api);
    const other = await running.otherOrganization();
    for (const [api, assistantId] of [
      [running.api, another],
      [other.api, a],
    ] as const)
      expect((await api.gqlError(DELETE, { a: assistantId, id })).extensions.code).toBe("LOG_NOT_FOUND");
    expect(await logs()).toEqual([id]);
  });
});

describe("deleteLogs", () => {
  test("deletes by a filter, returns the count, and leaves live conversations", async () => {
    const gone = [await log("About apples"), await log("About apples too")];
    const kept = await log("About pears");
    const live = await newChat(running.api, a);
    await say(running.api, live, "About apples as well");
    const filter = { assistantId: a, search: "apples" };
    const { deleteLogs } = await running.api.gql(DELETE_ALL, { filter });
    expect(deleteLogs).toMatchObject({ subject: "LOGS", status: "PENDING", matched: 2, chats: 0 });
    expect(await erased(running, deleteLogs.id)).toMatchObject({ chats: 2, messages: 2 });
    expect(await logs()).toEqual([live, kept]);
    for (const id of gone) expect(await count("events", id)).toBe(0);
  });

  test("deletes more than one batch", async () => {
    const id = await log("Words");
    await running.database.query(
      `insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, ended_at)
       select organization_id, 'many-' || n, assistant_id, channel, status, status_event_id, ended_at from chats, generate_series(1, 250) n where id = $1`,
      [id],
    );
    const { deleteLogs } = await running.api.gql(DELETE_ALL, { filter: { assistantId: a } });
    expect(await erased(running, deleteLogs.id)).toMatchObject({ matched: 251, chats: 251 });
    expect(await logs()).toEqual([]);
  });

  test.each([{}, { search: "" }, { assistantId: null }])("refuses the filter %j", async (filter) => {
    const error = await running.api.gqlError(DELETE_ALL, { filter });
    expect(error.extensions).toMatchObject({ code: "BAD_USER_INPUT", details: [{ path: "filter" }] });
  });

  test("refuses an unknown assistant", async () => {
    const error = await running.api.gqlError(DELETE_ALL, { filter: { assistantId: UNKNOWN_ID } });
    expect(error.extensions.code).toBe("ASSISTANT_NOT_FOUND");
  });
});
