import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { endChat, quietAssistant, newChat, say, UNKNOWN_ID } from "../support/factories";

const running = useApp();

interface Connection {
  readonly nodes: { readonly id: string }[];
  readonly edges: { readonly cursor: string; readonly node: { readonly id: string } }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

const CHATS = `query ($id: ID!, $first: Int, $after: String, $filter: ChatFilter) { assistant(id: $id) {
  chats(first: $first, after: $after, filter: $filter) {
    nodes { id } edges { cursor node { id } } pageInfo { hasNextPage endCursor } } } }`;

async function chats(id: string, query: object = {}): Promise<Connection> {
  const { assistant } = (await running.api.gql(CHATS, { id, ...query })) as {
    assistant: { chats: Connection };
  };
  return assistant.chats;
}
const ids = ({ nodes }: Connection) => nodes.map(({ id }) => id);

async function withChats(count: number): Promise<[assistant: string, newestFirst: string[]]> {
  const assistant = await quietAssistant(running.api);
  const made: string[] = [];
  for (let index = 0; index < count; index++) made.unshift(await newChat(running.api, assistant));
  return [assistant, made];
}

describe("the chats of an assistant", () => {
  test("are listed newest first, 20 per page, each with a cursor", async () => {
    const [assistant, made] = await withChats(22);
    const first = await chats(assistant);
    expect(ids(first)).toEqual(made.slice(0, 20));
    expect(first.edges.map(({ node }) => node.id)).toEqual(ids(first));
    expect(first.pageInfo).toEqual({ hasNextPage: true, endCursor: first.edges.at(-1)!.cursor });
    const rest = await chats(assistant, { after: first.pageInfo.endCursor });
    expect(ids(rest)).toEqual(made.slice(20));
    expect(rest.pageInfo.hasNextPage).toBe(false);
  });

  test("continue after any cursor, whatever is added meanwhile", async () => {
    const [assistant, made] = await withChats(5);
    const { edges } = await chats(assistant, { first: 2 });
    const arrived = await newChat(running.api, assistant);
    expect(ids(await chats(assistant, { first: 2, after: edges[1]!.cursor }))).toEqual(made.slice(2, 4));
    expect(ids(await chats(assistant, { after: edges[0]!.cursor }))).toEqual(made.slice(1));
    expect(ids(await chats(assistant, { first: 1 }))).toEqual([arrived]);
  });

  test("report exactly whether more follow", async () => {
    const [assistant, made] = await withChats(3);
    expect((await chats(assistant, { first: 2 })).pageInfo.hasNextPage).toBe(true);
    expect((await chats(assistant, { first: 3 })).pageInfo.hasNextPage).toBe(false);
    const behind = await chats(assistant, { after: made.at(-1) });
    expect(behind).toEqual({ nodes: [], edges: [], pageInfo: { hasNextPage: false, endCursor: null } });
  });

  test("can be filtered by channel, status and start, with pagination", async () => {
    const { api } = running;
    const assistant = await quietAssistant(api);
    const made: Record<string, string> = {};
    for (const [name, channel] of Object.entries({ text: "TEXT", sms: "SMS", over: "SMS", voice: "VOICE" }))
      made[name] = await newChat(api, assistant, { channel });
    await endChat(api, made.over!);
    const only = async (filter: object, query = {}) => ids(await chats(assistant, { filter, ...query }));
    expect(await only({ channel: "SMS" })).toEqual([made.over, made.sms]);
    expect(await only({ status: "ended" })).toEqual([made.over]);
    expect(await only({ status: "in-progress", channel: "SMS" })).toEqual([made.sms]);
    expect(await only({ channel: "SMS" }, { first: 1, after: made.over })).toEqual([made.sms]);
    const moment = new Date(Date.UTC(2020, 0, 1));
    await running.database.query("update chats set started_at = $1 where id = $2", [moment, made.text]);
    const border = new Date(Date.UTC(2021, 0, 1)).toISOString();
    expect(await only({ startedBefore: border })).toEqual([made.text]);
    expect(await only({ startedAfter: border })).toEqual([made.voice, made.over, made.sms]);
    expect(await only({})).toHaveLength(4);
  });

  test("exclude what started exactly at a bound, and so do logs", async () => {
    const { api } = running;
    const assistant = await quietAssistant(api);
    const chat = await newChat(api, assistant);
    await endChat(api, chat);
    const moment = new Date(Date.UTC(2020, 0, 1));
    await running.database.query("update chats set started_at = $1 where id = $2", [moment, chat]);
    const logs = "query ($filter: LogFilter) { logs(filter: $filter) { nodes { id } } }";
    const found = async (filter: { startedAfter?: Date; startedBefore?: Date }) => [
      ...ids(await chats(assistant, { filter })),
      ...(await api.gql(logs, { filter: { ...filter, assistantId: assistant } })).logs.nodes,
    ];
    const [before, after] = [-1, 1].map((ms) => new Date(moment.getTime() + ms));
    expect(await found({ startedAfter: moment })).toEqual([]);
    expect(await found({ startedBefore: moment })).toEqual([]);
    expect(await found({ startedAfter: before!, startedBefore: after! })).toHaveLength(2);
  });

  test.each([{ first: 0 }, { first: 101 }, { filter: { status: null } }, { filter: { channel: "CHAT" } }])(
    "are not listed with %j",
    async (wrong) => {
      const [assistant] = await withChats(1);
      const { extensions } = await running.api.gqlError(CHATS, { id: assistant, ...wrong });
      expect(extensions.code).toBe("BAD_USER_INPUT");
    },
  );
});

describe("the messages of a chat", () => {
  const MESSAGES = `query ($id: ID!, $last: Int, $before: ID) { chat(id: $id) {
    messages(last: $last, before: $before) { id sequence content } } }`;
  const messages = async (id: string, query: object = {}) => {
    const { chat } = (await running.api.gql(MESSAGES, { id, ...query })) as {
      chat: { messages: { id: string; sequence: number; content: string }[] };
    };
    return chat.messages;
  };
  const numbers = (list: { sequence: number }[]) => list.map(({ sequence }) => sequence);

  test("are the last ones, oldest first, with pagination by `before`", async () => {
    const [, [chat]] = await withChats(1);
    for (let count = 1; count <= 7; count++) await say(running.api, chat!, `No. ${count}`);
    expect(numbers(await messages(chat!))).toEqual([1, 2, 3, 4, 5, 6, 7]);
    const last = await messages(chat!, { last: 3 });
    expect(last.map(({ content }) => content)).toEqual(["No. 5", "No. 6", "No. 7"]);
    const earlier = await messages(chat!, { last: 3, before: last[0]!.id });
    expect(numbers(earlier)).toEqual([2, 3, 4]);
    await say(running.api, chat!, "new");
    expect(numbers(await messages(chat!, { last: 3, before: earlier[0]!.id }))).toEqual([1]);
    expect(await messages(chat!, { before: (await messages(chat!))[0]!.id })).toEqual([]);
  });

  test("are refused before a message of another chat, also on REST", async () => {
    const { api } = running;
    const [, [one, two]] = await withChats(2);
    const elsewhere = await say(api, one!, "x");
    await say(api, two!, "y");
    for (const before of [elsewhere, UNKNOWN_ID]) {
      const details = [
        { path: "before", message: `must be the id of a message of this chat; got "${before}"` },
      ];
      const { extensions } = await api.gqlError(MESSAGES, { id: two, before });
      expect(extensions).toMatchObject({ code: "BAD_USER_INPUT", details });
      const answer = await api.get(`/rest/v1/ai-chats/${two}?before=${before}`, 400);
      expect(answer).toMatchObject({ code: "BAD_USER_INPUT", details });
    }
  });

  test("of a call continue before a message that the whole transcript has replaced", async () => {
    const { api, database } = running;
    const chat = await newChat(api, await quietAssistant(api), { channel: "VOICE" });
    for (const text of ["one", "two", "three"]) await say(api, chat, text, "ASSISTANT");
    const [, , third] = await messages(chat);
    await database.query("delete from messages where id = $1", [third!.id]);
    expect(numbers(await messages(chat, { before: third!.id }))).toEqual([1, 2]);
  });

  test.each([{ last: 0 }, { last: 501 }])("are not listed with %j", async (wrong) => {
    const [, [chat]] = await withChats(1);
    const error = await running.api.gqlError(MESSAGES, { id: chat, ...wrong });
    expect(error.extensions).toMatchObject({ code: "BAD_USER_INPUT", details: [{ path: "last" }] });
  });
});

describe("a started chat", () => {
  test("has the given values, and defaults for the others", async () => {
    const { api } = running;
    const assistantId = await quietAssistant(api, { name: "Ada" });
    const fields = `id assistant { id name } channel status label phoneNumber variables metadata recordingUrl
      startedAt endedAt endedReason messages { id }`;
    const start = `mutation ($input: StartChatInput!) { startChat(input: $input) { ${fields} } }`;
    const { startChat: bare } = await api.gql(start, { input: { assistantId } });
    expect(bare).toEqual({
      id: expect.any(String),
      assistant: { id: assistantId, name: "Ada" },
      channel: "TEXT",
      status: "in-progress",
      label: "",
      phoneNumber: null,
      variables: {},
      metadata: {},
      recordingUrl: null,
      startedAt: expect.any(String),
      endedAt: null,
      endedReason: null,
      messages: [],
    });
    const given = { channel: "SMS", variables: { a: null }, metadata: { b: [1] } };
    const { startChat: full } = await api.gql(start, { input: { assistantId, ...given, userId: "Grace" } });
    expect(full).toMatchObject({ ...given, label: "Grace" });
    expect((await api.gql(`query ($id: ID!) { chat(id: $id) { ${fields} } }`, { id: full.id })).chat).toEqual(
      full,
    );
  });

  test.each([
    ["uniqueId", "x".repeat(30)],
    ["uniqueId", ""],
    ["userId", ""],
    ["variables", null],
    ["metadata", null],
  ])("cannot be started with %s %j", async (name, value) => {
    const assistantId = await quietAssistant(running.api);
    const start = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";
    const error = await running.api.gqlError(start, { input: { assistantId, [name]: value } });
    expect(error.extensions).toMatchObject({ code: "BAD_USER_INPUT", details: [{ path: `input.${name}` }] });
  });
});

test("each mutation of a document sees the changes of the mutations before it", async () => {
  const { createProject: project } = await running.api.gql(
    'mutation { createProject(input: { name: "Old" }) { id } }',
  );
  const { createWorkflow: workflow } = await running.api.gql(
    'mutation ($projectId: ID!) { createWorkflow(input: { name: "W", projectId: $projectId }) { id } }',
    { projectId: project.id },
  );
  const { before, after } = await running.api.gql(
    `mutation ($id: ID!, $projectId: ID!) {
       before: updateWorkflow(id: $id, input: { name: "A" }) { project { name } }
       updateProject(id: $projectId, input: { name: "New" }) { id }
       after: updateWorkflow(id: $id, input: { name: "B" }) { project { name } }
     }`,
    { id: workflow.id, projectId: project.id },
  );
  expect([before.project.name, after.project.name]).toEqual(["Old", "New"]);
});
