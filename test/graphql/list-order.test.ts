import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { newAssistant, newChat } from "../support/factories";
import { upload } from "../support/files";
import { buildFlow } from "../support/flows";
import { nodesOf, planOf, statementsOf } from "../support/plans";
import { connect } from "../support/sms";

const running = useApp();
let api: Api;
let assistantId: string;
let people = 0;
beforeAll(async () => {
  ({ api } = await running.otherOrganization());
  assistantId = await newAssistant(api);
});

const idOf = async (document: string, variables: object = {}): Promise<string> =>
  (Object.values(await api.gql(document, variables as Record<string, unknown>))[0] as { id: string }).id;
const idsIn = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

interface List {
  readonly table: string;
  readonly column?: string;
  readonly key?: string;
  readonly oldestFirst?: true;
  readonly make: () => Promise<string>;
  readonly ids: () => Promise<string[]>;
}
const paged = (path: string) => async () => {
  const ids: string[] = [];
  for (let page = 1; ; page++) {
    const { data, meta } = await api.get(`${path}?take=2&page=${page}`, 200);
    ids.push(...idsIn(data as { id: string }[]));
    if (!meta.hasNextPage) return ids;
  }
};
const listed = (field: string) => async () => idsIn((await api.gql(`{ ${field} { id } }`))[field]);
interface Part {
  readonly nodes: { id: string }[];
  readonly pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
}
async function walked(part: (after: string | null) => Promise<Part>): Promise<string[]> {
  const ids: string[] = [];
  for (let after: string | null = null; ;) {
    const { nodes, pageInfo }: Part = await part(after);
    ids.push(...idsIn(nodes));
    expect([pageInfo.hasPreviousPage, pageInfo.startCursor === null]).toEqual([
      after !== null,
      nodes.length === 0,
    ]);
    if (!pageInfo.hasNextPage) return ids;
    after = pageInfo.endCursor;
  }
}
const connected = (field: string) => () =>
  walked(async (after) => {
    const text = `query ($after: String) { ${field}(first: 2, after: $after) { nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
    return (await api.gql(text, { after }))[field];
  });

const LISTS: Readonly<Record<string, List>> = {
  assistants: { table: "assistants", make: () => newAssistant(api), ids: paged("/rest/v1/assistants") },
  files: {
    table: "files",
    make: async () => (await upload(api)).id as string,
    ids: paged("/rest/v1/files"),
  },
  "the chats of an assistant": {
    table: "chats",
    column: "started_at",
    make: () => newChat(api, assistantId),
    ids: async () => {
      const text = `query ($id: ID!, $after: String) { assistant(id: $id) { chats(first: 2, after: $after) {
        nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`;
      return walked(async (after) => (await api.gql(text, { id: assistantId, after })).assistant.chats);
    },
  },
  "the logs of an assistant": {
    table: "chats",
    column: "started_at",
    make: () => newChat(api, assistantId),
    ids: async () => idsIn((await api.get(`/rest/v1/assistants/${assistantId}/logs?take=100`, 200)) as never),
  },
  chats: {
    table: "chats",
    column: "started_at",
    make: () => newChat(api, assistantId),
    ids: connected("chats"),
  },
  logs: {
    table: "chats",
    column: "started_at",
    make: () => newChat(api, assistantId),
    ids: connected("logs"),
  },
  calls: {
    table: "calls",
    key: "chat_id",
    make: async () =>
      (await api.post("/rest/v1/call/phone", { assistantId, phoneNumber: "+12025550100" }, 200)).id as string,
    ids: connected("calls"),
  },
  keys: {
    table: "api_keys",
    make: () => idOf("mutation { createKey(input: { type: PUBLIC }) { id } }"),
    ids: listed("keys"),
  },
  projects: {
    table: "projects",
    make: () => idOf('mutation { createProject(input: { name: "P" }) { id } }'),
    ids: listed("projects"),
  },
  webhookDestinations: {
    table: "webhook_destinations",
    make: () =>
      idOf(
        'mutation { createWebhookDestination(input: { url: "https://example.com", secret: "s" }) { id } }',
      ),
    ids: listed("webhookDestinations"),
  },
  workflows: {
    table: "workflows",
    make: async () => (await buildFlow(api, { assistantId })).workflowId,
    ids: listed("workflows"),
  },
  deployments: {
    table: "deployments",
    make: () =>
      idOf("mutation ($id: ID!) { createDeployment(input: { type: API, assistantId: $id }) { id } }", {
        id: assistantId,
      }),
    ids: listed("deployments"),
  },
  telephonyConnections: {
    table: "telephony_connections",
    oldestFirst: true,
    make: async () => (await connect({ api }, [])).id,
    ids: listed("telephonyConnections"),
  },
  erasures: {
    table: "erasures",
    column: "requested_at",
    make: () => idOf('mutation { forgetEndUser(uniqueId: "nobody") { id } }'),
    ids: connected("erasures"),
  },
  endUsers: {
    table: "end_users",
    make: async () => {
      const id = await newChat(api, assistantId, { uniqueId: `person-${++people}` });
      return (await api.gql("query ($id: ID!) { chat(id: $id) { user { id } } }", { id })).chat.user.id;
    },
    ids: connected("endUsers"),
  },
  endUserExports: {
    table: "end_user_exports",
    column: "requested_at",
    make: () => idOf('mutation { exportEndUser(uniqueId: "nobody") { id } }'),
    ids: connected("endUserExports"),
  },
};

describe.each(Object.entries(LISTS))(
  "%s",
  (_, { table, column = "created_at", key = "id", oldestFirst, make, ids }) => {
    test("sort by creation time whatever their ids are, and by id at the same time", async () => {
      const made: string[] = [];
      for (let n = 0; n < 5; n++) made.push(await make());
      // As created by servers whose clocks differ: the first three sort differently by id and by time.
      const ages = { [made[0]!]: 1, [made[1]!]: 2, [made[2]!]: 3, [made[3]!]: 3, [made[4]!]: 5 };
      for (const [id, hours] of Object.entries(ages))
        await running.database.query(
          `update ${table} set ${column} = date_trunc('day', now()) - $2 * interval '1 hour' where ${key} = $1`,
          [id, hours],
        );
      const newestFirst = [made[0], made[1], made[3], made[2], made[4]];
      const own = (await ids()).filter((id) => made.includes(id));
      expect(own).toEqual(oldestFirst ? newestFirst.reverse() : newestFirst);
    });
  },
);

const NO_COUNTS = "matched, chats, messages, events, recordings, texts, facts, contexts, files";

/** Expects that the statements by which a request reads a list read an index in its order. */
async function expectOrdered(table: string, index: string, request: () => Promise<unknown>): Promise<void> {
  const { app, database } = running;
  const ordered = new RegExp(`from "${table}".* order by`, "s");
  const statements = await statementsOf(app.database, ordered, request);
  expect(statements).not.toEqual([]);
  for (const statement of statements) {
    const nodes = nodesOf(await planOf(database, statement));
    expect(nodes.filter((node) => node["Node Type"] === "Sort")).toEqual([]);
    const indexes = nodes.map((node) => node["Index Name"]).filter((name) => name !== undefined);
    expect([statement.sql, indexes]).toEqual([statement.sql, [index]]);
  }
}

/** The answer may be an error, because the secrets of these rows are not sealed. */
const inConnection = (field: string) => (other: Api) =>
  other.graphql(`{ ${field}(first: 20) { nodes { id } } }`);
const inPages = (path: string) => (other: Api) => other.get(path, 200);

test.each<[string, (other: Api) => Promise<unknown>, string, string, string?]>([
  ["assistants", inPages("/rest/v1/assistants"), "id, name", "n, n"],
  [
    "files",
    inPages("/rest/v1/files"),
    "id, name, mime_type, detected_type, size",
    "n, n, 'text/plain', 'text/plain', 1",
  ],
  ["workflows", inConnection("workflowsConnection"), "id, name", "n, n"],
  ["deployments", inConnection("deploymentsConnection"), "id, type, assistant_id", "n, 'API', 'none'"],
  ["projects", inConnection("projectsConnection"), "id, name", "n, n"],
  [
    "api_keys",
    inConnection("keysConnection"),
    "id, type, status, sealed_value",
    "n, 'SECRET', 'INACTIVE', 'none'",
  ],
  [
    "webhook_destinations",
    inConnection("webhookDestinationsConnection"),
    "id, url, sealed_secret",
    "n, 'http://127.0.0.1:1/', 'none'",
  ],
  [
    "telephony_connections",
    inConnection("telephonyConnectionsConnection"),
    "id, phone_number, account_sid, sealed_token",
    "n, n, 'AC', 'none'",
  ],
  [
    "erasures",
    inConnection("erasures"),
    `id, subject, status, until, ${NO_COUNTS}`,
    "n, 'LOGS', 'DONE', now(), 0, 0, 0, 0, 0, 0, 0, 0, 0",
    "requested_at",
  ],
  [
    "end_user_exports",
    inConnection("endUserExports"),
    "id, subject, digest, status, attempt",
    "n, 'USER_ID', 'none', 'EXPIRED', 1",
    "requested_at",
  ],
])(
  "a page of many %s is read from an index in its order",
  async (table, request, columns, values, time = "created_at") => {
    const { database } = running;
    const { api: other } = await running.otherOrganization();
    const { id } = await other.get("/rest/v1/organization", 200);
    await database.query(
      `insert into ${table} (organization_id, ${time}, ${columns})
     select $1, now() - number * interval '1 minute', ${values}
     from (select number, 'many-' || number as n from generate_series(1, 5000) as number) as numbers`,
      [id],
    );
    await database.query(`analyze ${table}`);
    await expectOrdered(table, `${table}_by_age`, () => request(other));
  },
);

test("a page of many logs is read from an index in its order", async () => {
  const { api: other } = await running.otherOrganization();
  const { id } = await other.get("/rest/v1/organization", 200);
  const theirs = await newAssistant(other);
  await running.database.query(
    `insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, started_at)
     select $1, 'many-' || number, $2, 'TEXT', 'ended', '', now() - number * interval '1 minute'
     from generate_series(1, 5000) as number`,
    [id, theirs],
  );
  await running.database.query("analyze chats");
  await expectOrdered("chats", "chats_by_age", () => other.get(`/rest/v1/assistants/${theirs}/logs`, 200));
});

test("a list continues after the id of a conversation that has been removed", async () => {
  const other = await newAssistant(api);
  const ids: string[] = [];
  for (let n = 0; n < 4; n++) ids.unshift(await newChat(api, other));
  // The clock of ids and that of the database differ by milliseconds; here they must not.
  await running.database.query(
    `update chats set started_at = to_timestamp(('x' || left(replace(id, '-', ''), 12))::bit(48)::bigint / 1000.0)
     where assistant_id = $1`,
    [other],
  );
  const text = `query ($id: ID!, $after: String) { assistant(id: $id) { chats(first: 2, after: $after) {
    nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } logs(first: 2, after: $after, filter: { assistantId: $id }) { nodes { id } } }`;
  await running.database.query("delete from chats where id = $1", [ids[1]]);
  const { assistant, logs } = await api.gql(text, { id: other, after: ids[1] });
  expect(idsIn(assistant.chats.nodes as { id: string }[])).toEqual(ids.slice(2));
  expect(idsIn(logs.nodes as { id: string }[])).toEqual(ids.slice(2));
});
