import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Knex } from "knex";
import { useApp } from "../support/app";
import { newAssistant, newChat, say } from "../support/factories";

const running = useApp();

const DASHBOARD = `query ($take: Int) { assistants(take: $take) {
  data {
    id name
    voice { prompt model voice } sms { prompt keywords } chat { prompt functions } theme { theme mode }
    logs(take: 5) { id type label createdAt }
  }
  meta { itemCount } } }`;

interface Row {
  readonly id: string;
  readonly name: string;
  readonly chat: { readonly prompt: string };
  readonly logs: { readonly label: string }[];
}

/** Statements that choose between the primary and a replica (`TEST_REPLICA`). */
const CHOOSING = /write_positions|pg_is_in_recovery/;

/** Statements that the service sends while `work` runs, except those that set the organization for PostgreSQL. */
async function statements(work: () => Promise<unknown>): Promise<string[]> {
  // Every statement passes through the events of a pool, which is private to the service.
  const { knex, ports } = running.app.database as unknown as {
    readonly knex: Knex;
    readonly ports: { readonly replica?: { readonly db: Knex } };
  };
  const pools = [knex, ...(ports.replica ? [ports.replica.db] : [])];
  const seen: string[] = [];
  const see = ({ sql }: { sql: string }) => void (CHOOSING.test(sql) || seen.push(sql));
  for (const pool of pools) pool.on("query", see);
  await work();
  for (const pool of pools) pool.removeListener("query", see);
  return seen;
}

const READING = /^(select|with)/i;
const names: string[] = [];

beforeAll(async () => {
  for (let index = 0; index < 20; index++) {
    const name = `No. ${String(index).padStart(2, "0")}`;
    const id = await newAssistant(running.api, { name });
    await running.api.patch(`/rest/v1/assistants/${id}/chat`, { prompt: `Prompt of ${name}` }, 200);
    for (let chat = 0; chat < 6; chat++)
      await newChat(running.api, id, { userId: `${name}/${chat}`, uniqueId: `${index}/${chat}` });
    names.unshift(name);
  }
});

describe("the dashboard query", () => {
  const rows = async (take: number) => {
    const { assistants } = (await running.api.gql(DASHBOARD, { take })) as { assistants: { data: Row[] } };
    return assistants.data;
  };

  test("returns the configurations and 5 newest logs of each of 20 assistants", async () => {
    const data = await rows(20);
    expect(data.map(({ name }) => name)).toEqual(names);
    for (const { name, chat, logs } of data) {
      expect(chat.prompt).toBe(`Prompt of ${name}`);
      expect(logs.map(({ label }) => label)).toEqual([5, 4, 3, 2, 1].map((number) => `${name}/${number}`));
    }
  });

  test("uses at most 7 statements, for 2 assistants as for 20", async () => {
    await rows(1); // the key's last use is recorded once a minute
    const many = await statements(() => rows(20));
    expect(many.length).toBeGreaterThan(0);
    expect(many.length).toBeLessThanOrEqual(7);
    for (const sql of many) expect(sql).toMatch(READING);
    expect(await statements(() => rows(2))).toHaveLength(many.length);
  });

  test("reads only the selected configuration fields: long prompts are not read unnecessarily", async () => {
    const query = `query { assistants(take: 2) { data {
      voice { ...speech sameAgain: voice } sms { ... on ChannelConfiguration { temperature } } chat { __typename } theme { mode }
    } } } fragment speech on VoiceConfiguration { voice endCallMessage }`;
    const read = (await statements(() => running.api.gql(query)))
      .map((sql) => /^select (.+) from "(\w+)_configurations"/.exec(sql))
      .filter((found) => found !== null)
      .map(([, columns, kind]) => `${kind}: ${columns!.replaceAll('"', "")}`);
    expect(read.toSorted()).toEqual([
      "chat: assistant_id",
      "sms: assistant_id, temperature",
      "theme: assistant_id, mode",
      "voice: assistant_id, voice, end_call_message",
    ]);
  });

  test("returns any selection of configuration fields, however many are in use", async () => {
    const fields = ["prompt", "model", "provider", "temperature", "functions", "isRagEnabled", "chatMode"];
    const { api } = running;
    const id = await newAssistant(api);
    const chat = async (selected: readonly string[]) => {
      const query = `query ($id: ID!) { assistant(id: $id) { chat { ${selected.join(" ")} } } }`;
      return ((await api.gql(query, { id })) as { assistant: { chat: object } }).assistant.chat;
    };
    const all = await chat(fields);
    for (let set = 1; set < 2 ** fields.length; set++) {
      const selected = fields.filter((_, index) => set & (1 << index));
      const shown = Object.entries(all).filter(([field]) => selected.includes(field));
      expect(await chat(selected)).toEqual(Object.fromEntries(shown));
    }
  });

  test("uses the same number of statements for a page of templates of any size", async () => {
    const query = DASHBOARD.replace("assistants(", "assistantTemplates(");
    const count = async (take: number) => (await statements(() => running.api.gql(query, { take }))).length;
    await count(1); // after a change, the first request may ask the replica where it is
    expect(await count(6)).toBe(await count(1));
  });
});

describe("a list inside a list", () => {
  const count = async (query: string, take: number) => {
    await running.api.gql(query, { take });
    return (await statements(() => running.api.gql(query, { take }))).length;
  };

  test.each([
    ["warnings", "configurationWarnings { code }"],
    ["logs of one type", "logs(take: 2, type: TEXT) { id }"],
    ["chats", "chats(first: 2) { nodes { id } pageInfo { hasNextPage } }"],
    [
      "chats that are filtered",
      'chats(first: 2, filter: { channel: TEXT, status: "in-progress" }) { nodes { id } }',
    ],
    ["chats with their messages", "chats(first: 2) { nodes { id messages(last: 2) { id } } }"],
    ["attached files", "files { name status }"],
    [
      "chats with the person and the person's chats",
      "chats(first: 2) { nodes { user { facts { text } chats(first: 2) { nodes { id } } } } }",
    ],
    ["chats with their assistant", "chats(first: 2) { nodes { assistant { id chat { prompt } } } }"],
  ])("of %s uses as many statements for 20 assistants as for 2", async (_what, fields) => {
    const query = `query ($take: Int) { assistants(take: $take) { data { id ${fields} } } }`;
    expect(await count(query, 20)).toBe(await count(query, 2));
  });

  // PostgreSQL finds the better index only if it sees the one assistant whose logs are searched.
  test("of logs that are searched uses one statement for each assistant", async () => {
    const query = `query ($take: Int) { assistants(take: $take) { data { id logs(take: 2, search: "No.") { id } } } }`;
    expect((await count(query, 20)) - (await count(query, 2))).toBe(18);
  });
});

describe("data loaded by one request", () => {
  test("is not reused by the next one", async () => {
    const { api } = running;
    const id = await newAssistant(api, { name: "Before" });
    const read = async () => {
      const { data } = ((await api.gql(DASHBOARD, { take: 1 })) as { assistants: { data: Row[] } })
        .assistants;
      return data[0]!;
    };
    expect(await read()).toMatchObject({ id, name: "Before", logs: [] });
    await api.patch(`/rest/v1/assistants/${id}`, { name: "After" }, 200);
    await api.patch(`/rest/v1/assistants/${id}/chat`, { prompt: "After" }, 200);
    await say(api, await newChat(api, id), "Hello", "USER");
    expect(await read()).toMatchObject({
      id,
      name: "After",
      chat: { prompt: "After" },
      logs: [{ label: "Hello" }],
    });
  });

  test("is reloaded after each change in a mutation", async () => {
    const { api } = running;
    const id = await newAssistant(api);
    const document = `mutation ($id: ID!) {
      before: updateAssistant(id: $id, input: {}) { chat { prompt } logs { label } chats { nodes { label } } }
      updateChatConfiguration(assistantId: $id, input: { prompt: "New" }) { prompt }
      startChat(input: { assistantId: $id, userId: "Grace" }) { id }
      after: updateAssistant(id: $id, input: {}) { chat { prompt } logs { label } chats { nodes { label } } } }`;
    const { before, after } = await api.gql(document, { id });
    expect(before).toMatchObject({ logs: [], chats: { nodes: [] } });
    const grace = { label: "Grace" };
    expect(after).toEqual({ chat: { prompt: "New" }, logs: [grace], chats: { nodes: [grace] } });
  });
});
