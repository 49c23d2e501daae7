import { beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { endChat, newAssistant, newChat, say } from "../support/factories";

const running = useApp();
/** Ids of the chats with the first and the second version, oldest first. */
let first: string[];
let second: string[];
let assistantId: string;

beforeAll(async () => {
  const { api } = running;
  assistantId = await newAssistant(api, { name: "Ada" });
  first = [await newChat(api, assistantId), await newChat(api, assistantId, { channel: "SMS" })];
  await api.patch(`/rest/v1/assistants/${assistantId}/chat`, { prompt: "Be brief." }, 200);
  second = [await newChat(api, assistantId)];
  for (const id of [...first, ...second]) await say(api, id, "Where is the parcel?");
  await newChat(api, await newAssistant(api, { name: "Bea" }));
  const { query } = running.database;
  await query("update chats set assistant_version = null where id = $1", [await newChat(api, assistantId)]);
});

const LOGS = `query ($id: ID!, $version: Int, $type: Channel, $search: String, $page: Int, $take: Int) {
  assistant(id: $id) {
    logs(assistantVersion: $version, type: $type, search: $search, order: asc, page: $page, take: $take) { id } } }`;
const ALL = `query ($filter: LogFilter) {
  logs(filter: $filter, first: 10, orderBy: OLDEST_FIRST) { nodes { id chat { version { number } } } totalCount } }`;
type Rows = readonly { readonly id: string }[];
const idsIn = (rows: Rows) => rows.map(({ id }) => id);
const ofAssistant = async (variables: object): Promise<string[]> =>
  idsIn((await running.api.gql(LOGS, { id: assistantId, ...variables })).assistant.logs as Rows);

describe("the logs of a version", () => {
  test("are those of the chats that began with it", async () => {
    expect(await ofAssistant({ version: 1 })).toEqual(first);
    expect(await ofAssistant({ version: 2 })).toEqual(second);
    expect(await ofAssistant({ version: 3 })).toEqual([]);
  });

  test("are filtered by channel, searched and paged", async () => {
    expect(await ofAssistant({ version: 1, type: "SMS" })).toEqual([first[1]]);
    expect(await ofAssistant({ version: 2, search: "parcel" })).toEqual(second);
    expect(await ofAssistant({ version: 2, search: "invoice" })).toEqual([]);
    expect(await ofAssistant({ version: 1, page: 2, take: 1 })).toEqual([first[1]]);
    expect(await ofAssistant({ version: 1, page: 21, take: 50 })).toEqual([]);
  });

  test("are listed by REST, too", async () => {
    const at = `/rest/v1/assistants/${assistantId}/logs?order=asc`;
    expect(idsIn((await running.api.get(`${at}&assistantVersion=1`, 200)) as Rows)).toEqual(first);
    await running.api.get(`${at}&assistantVersion=0`, 400);
  });

  test("are counted in the list of the organization", async () => {
    const filter = { assistantId, assistantVersion: 1, search: "parcel" };
    const { logs } = await running.api.gql(ALL, { filter });
    expect(logs.totalCount).toBe(2);
    expect(logs.nodes).toEqual(first.map((id) => ({ id, chat: { version: { number: 1 } } })));
  });

  test("need an assistant in the list of the organization", async () => {
    const { message, extensions } = await running.api.gqlError(ALL, { filter: { assistantVersion: 1 } });
    expect(extensions.code).toBe("BAD_USER_INPUT");
    expect(message).toContain("filter.assistantVersion: must be sent with assistantId");
  });

  test("are not deleted by deleteLogs, which refuses the condition", async () => {
    const remove = "mutation ($filter: LogFilter!) { deleteLogs(filter: $filter) { id } }";
    for (const id of second) await endChat(running.api, id);
    const filter = { assistantId, assistantVersion: 2 };
    const { message, extensions } = await running.api.gqlError(remove, { filter });
    expect(extensions.code).toBe("BAD_USER_INPUT");
    expect(message).toContain("filter.assistantVersion: must not be a condition of deleteLogs");
    expect(await ofAssistant({ version: 2 })).toEqual(second);
  });
});
