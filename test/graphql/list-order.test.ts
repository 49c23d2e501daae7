import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { upload } from "../support/files";
import { buildFlow } from "../support/flows";
import { connect } from "../support/sms";

const running = useApp();
let api: Api;
let assistantId: string;
beforeAll(async () => {
  ({ api } = await running.otherOrganization());
  assistantId = await newAssistant(api);
});

const idOf = async (document: string, variables: object = {}): Promise<string> =>
  (Object.values(await api.gql(document, variables as Record<string, unknown>))[0] as { id: string }).id;
const idsIn = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

type Answered = Record<
  string,
  { nodes: { id: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } }
>;

interface List {
  readonly table: string;
  readonly column?: string;
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
const connected = (field: string) => async () => {
  const ids: string[] = [];
  for (let after: string | null = null; ;) {
    const text = `query ($after: String) { ${field}(first: 2, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }`;
    const result: Answered = await api.gql(text, { after });
    const { nodes, pageInfo } = result[field]!;
    ids.push(...idsIn(nodes));
    if (!pageInfo.hasNextPage) return ids;
    after = pageInfo.endCursor;
  }
};

const LISTS: Readonly<Record<string, List>> = {
  assistants: { table: "assistants", make: () => newAssistant(api), ids: paged("/rest/v1/assistants") },
  files: {
    table: "files",
    make: async () => (await upload(api)).id as string,
    ids: paged("/rest/v1/files"),
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
  endUserExports: {
    table: "end_user_exports",
    column: "requested_at",
    make: () => idOf('mutation { exportEndUser(uniqueId: "nobody") { id } }'),
    ids: connected("endUserExports"),
  },
};

describe.each(Object.entries(LISTS))("%s", (_, { table, column = "created_at", oldestFirst, make, ids }) => {
  test("sort by the time of creation whatever their ids are, and by id at the same time", async () => {
    const made: string[] = [];
    for (let n = 0; n < 5; n++) made.push(await make());
    // As servers whose clocks differ make them: the ids of the first three tell another order than their times.
    const ages = { [made[0]!]: 1, [made[1]!]: 2, [made[2]!]: 3, [made[3]!]: 3, [made[4]!]: 5 };
    for (const [id, hours] of Object.entries(ages))
      await running.database.query(
        `update ${table} set ${column} = date_trunc('day', now()) - $2 * interval '1 hour' where id = $1`,
        [id, hours],
      );
    const newestFirst = [made[0], made[1], made[3], made[2], made[4]];
    const own = (await ids()).filter((id) => made.includes(id));
    expect(own).toEqual(oldestFirst ? newestFirst.reverse() : newestFirst);
  });
});

test.each([
  ["assistants", "id, name", "n, n", "and deleted_at is null"],
  ["files", "id, name, mime_type, detected_type, size", "n, n, 'text/plain', 'text/plain', 1", ""],
])("a page of many %s is read from an index in its order", async (table, columns, values, more) => {
  const { database } = running;
  const { id } = await (await running.otherOrganization()).api.get("/rest/v1/organization", 200);
  await database.query(
    `insert into ${table} (organization_id, created_at, ${columns})
     select $1, now() - number * interval '1 minute', ${values}
     from (select number, 'many-' || number as n from generate_series(1, 5000) as number) as numbers`,
    [id],
  );
  await database.query(`analyze ${table}`);
  const plan = await database.query(
    `explain select * from ${table} where organization_id = $1 ${more}
     order by created_at desc, id desc limit 20`,
    [id],
  );
  expect(JSON.stringify(plan)).toContain(`Index Scan Backward using ${table}_by_age`);
});
