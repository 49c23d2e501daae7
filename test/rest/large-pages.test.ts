import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { afterTests, SETTINGS, startServer, type ServerProcess } from "../support/server";
import { LONG as ALL } from "../support/suite";
import { until } from "../support/until";
import { form } from "../support/world";

const running = useApp();
/** So many that four pages exceed the small heap. */
const COUNT = ALL ? 100 : 50;
/** Nearly as large as a free-form object can be; in long runs also with nearly as many keys. */
const [KEYS, LENGTH] = ALL ? [19_000, 36] : [1_900, 530];
const LARGE = Object.fromEntries(
  Array.from({ length: KEYS }, (_, index) => [`name ${index}`, "v".repeat(LENGTH)]),
);
const LARGE_TEXT = JSON.stringify(LARGE);

let limited: Api;
let ids: string[];

/** Copies a record until there are COUNT of them. @returns their ids, in order */
const copy = async (table: string, columns: string, id: string): Promise<string[]> => {
  await running.database.query(
    `insert into ${table} (organization_id, id, ${columns})
     select organization_id, id || '-' || lpad(n::text, 3, '0'), ${columns}
     from ${table}, generate_series(2, ${COUNT}) as n where id = $1`,
    [id],
  );
  return Array.from({ length: COUNT }, (_, index) =>
    index === 0 ? id : `${id}-${String(index + 1).padStart(3, "0")}`,
  );
};

beforeAll(async () => {
  const body = { name: "Large", variables: LARGE };
  const { id } = await running.api.post("/rest/v1/assistants", body, 200);
  ids = await copy("assistants", "name, variables", id);
  const { value } = await running.api.post(
    "/rest/v1/organization/keys",
    { assistantIds: ids.slice(COUNT / 2) },
    200,
  );
  limited = running.api.as({ "X-API-Key": value });
});

/** Avoids parsing large values many times. */
const entriesOf = (text: string, large: string) => {
  const short = text.replaceAll(large, "1");
  expect(short.length).toBeLessThan(100_000);
  return JSON.parse(short) as { data: Record<string, unknown>[]; meta: object };
};

describe(`a page of ${COUNT} records of 1 MiB each`, () => {
  test("lists all assistants", async () => {
    const answer = await running.api.request("GET", `/rest/v1/assistants?take=100&order=asc`);
    expect(answer.status).toBe(200);
    const { data, meta } = entriesOf(answer.text, LARGE_TEXT);
    expect(data.map(({ id }) => id)).toEqual(ids);
    expect(data.map(({ variables }) => variables)).toEqual(ids.map(() => 1));
    expect(meta).toMatchObject({ take: 100, itemCount: COUNT, hasNextPage: false });
  });

  test("lists the assistants that match a search, for a key limited to some assistants", async () => {
    const answer = await limited.request("GET", "/rest/v1/assistants?take=10&order=asc&search=larg");
    expect(answer.status).toBe(200);
    const { data, meta } = entriesOf(answer.text, LARGE_TEXT);
    expect(data.map(({ id }) => id)).toEqual(ids.slice(COUNT / 2, COUNT / 2 + 10));
    expect(meta).toMatchObject({ itemCount: COUNT / 2 });
  });

  test("lists all files", async () => {
    const file = await running.api.request("POST", "/rest/v1/files/upload", form("a.txt", "text", LARGE));
    const columns = "name, mime_type, detected_type, size, metadata";
    const fileIds = await copy("files", columns, file.body.id);
    const answer = await running.api.request("GET", "/rest/v1/files?take=100&order=asc");
    expect(answer.status).toBe(200);
    const { data } = entriesOf(answer.text, LARGE_TEXT);
    expect(data.map(({ id }) => id)).toEqual(fileIds);
    expect(data.map(({ metadata, size }) => [metadata, size])).toEqual(ids.map(() => [1, 4]));
  });
});

/** Of the same size with few keys, so that the test is fast. */
const LONG = { greeting: "v".repeat(1_048_000) };
const LONG_TEXT = JSON.stringify(LONG);
const CONFIGURATIONS = ["voice", "sms", "chat", "theme"].map((kind) => `${kind}_configurations`);

/** The received text, read as it arrives, with 1 in place of each large value. */
async function shortened(response: Response): Promise<string> {
  let short = "";
  for await (const text of response.body!.pipeThrough(new TextDecoderStream()))
    if ((short += text).length > 2 * LONG_TEXT.length) short = short.replaceAll(LONG_TEXT, "1");
  return short.replaceAll(LONG_TEXT, "1");
}

type Row = Record<string, unknown>;

describe("a server with a small heap", () => {
  let server: ServerProcess;

  beforeAll(async () => {
    const { database, api } = running;
    await database.query("update assistants set variables = $1 where id = any($2)", [LONG, ids]);
    await api.patch(`/rest/v1/assistants/${ids[0]}/chat`, { prompt: "Say {greeting} to {somebody}." }, 200);
    for (const table of CONFIGURATIONS)
      await database.query(
        `insert into ${table} select copied.* from ${table} as t, unnest($2::text[]) as copy,
           jsonb_populate_record(t, jsonb_build_object('assistant_id', copy)) as copied where t.assistant_id = $1`,
        [ids[0], ids.slice(1)],
      );
    const env = { ...SETTINGS, DATABASE_URL: database.ownerUrl, NODE_OPTIONS: "--max-old-space-size=160" };
    server = await startServer(env, afterTests);
  });

  const rest = (path: string) => ({ path: `/rest/v1/${path}`, init: {} });
  const graphql = (fields: string) => {
    const query = `{ assistants(take: 100, order: asc) { data { ${fields} } } }`;
    return { path: "/graphql", init: { method: "POST", body: JSON.stringify({ query }) } };
  };
  const begin = async ({ path, init }: ReturnType<typeof rest>) => {
    const headers = { ...server.api.headers, "Content-Type": "application/json" };
    const response = await fetch(server.url + path, { ...init, headers });
    expect(response.status).toBe(200);
    return response;
  };
  const read = async (page: ReturnType<typeof rest>) => {
    const response = await begin(page);
    await server.api.get("/health/live", 200); // while the page is on its way
    return rowsOf(await shortened(response));
  };
  const rowsOf = (text: string) => {
    expect(text.length).toBeLessThan(100_000);
    const { errors, data } = JSON.parse(text) as {
      errors?: unknown;
      data: Row[] | { assistants: { data: Row[] } };
    };
    expect(errors).toBeUndefined();
    return Array.isArray(data) ? data : data.assistants.data;
  };

  test(`returns four pages of ${COUNT} records of 1 MiB at once without crashing`, async () => {
    const pages = [
      rest("assistants?take=100&order=asc"),
      rest("assistants?take=100&order=asc&search=large"),
      graphql("id variables"),
      graphql("id variables configurationWarnings { channel code path }"),
    ];
    const lists = await Promise.all(pages.map(read));
    for (const list of lists)
      expect(list.map(({ id, variables }) => [id, variables])).toEqual(ids.map((id) => [id, 1]));
    // Of the values read late only the missing one causes a warning.
    const warning = { channel: "TEXT", code: "UNRESOLVED_VARIABLE", path: "prompt" };
    expect(lists[3]!.map(({ configurationWarnings }) => configurationWarnings)).toEqual(
      ids.map(() => [warning]),
    );
  });

  const INTERFACES: [string, ReturnType<typeof rest>][] = [
    ["REST", rest("assistants?take=100&order=asc")],
    ["GraphQL", graphql("id variables")],
  ];

  test.each(INTERFACES)(
    "cuts off a response by %s if the rest cannot be read, and logs it",
    async (_face, page) => {
      const response = await begin(page); // far more than sockets hold is still to come
      await running.database.query("alter table assistants rename column variables to moved");
      const reading = shortened(response).finally(() =>
        running.database.query("alter table assistants rename column moved to variables"),
      );
      await expect(reading).rejects.toThrow();
      const logged = new RegExp(`${response.headers.get("x-request-id")}.*request failed`);
      await until(() => logged.test(server.stderr()));
      await server.api.get(`/rest/v1/assistants/${ids[0]}`, 200);
    },
    60_000,
  );

  test.each(INTERFACES)(
    "returns null by %s for a value of an assistant that is deleted before it is sent",
    async (_face, page) => {
      const response = await begin(page);
      const deleted = ids.pop()!;
      await server.api.delete(`/rest/v1/assistants/${deleted}`, 200);
      const list = rowsOf(await shortened(response));
      expect(list.map(({ id, variables }) => [id, variables])).toEqual([
        ...ids.map((id) => [id, 1]),
        [deleted, null],
      ]);
    },
    60_000,
  );

  test("returns the headers of a page without reading its values", async () => {
    const { path } = rest("assistants?take=100");
    const response = await begin({ path, init: { method: "HEAD" } });
    expect(await response.text()).toBe("");
  });
});

test("pages of a long list have every entry once, in either order, however far they are", async () => {
  const { api } = await running.otherOrganization();
  const first = (await api.post("/rest/v1/assistants", { name: "first" }, 200)) as { id: string };
  await running.database.query(
    `insert into assistants (organization_id, id, name, created_at)
     select organization_id, 'listed-' || n, 'Listed', created_at + n % 40 * interval '1 second' from assistants, generate_series(1, 2504) n
     where id = $1`,
    [first.id],
  );
  const pageOf = (order: string, page: number) =>
    api.get(`/rest/v1/assistants?order=${order}&take=100&page=${page}`, 200) as Promise<{
      data: { id: string }[];
      meta: object;
    }>;
  const idsOf = async (order: string) => {
    const ids: string[] = [];
    for (let page = 1; page <= 26; page++) ids.push(...(await pageOf(order, page)).data.map(({ id }) => id));
    return ids;
  };
  const ascending = await idsOf("asc");
  expect(new Set(ascending).size).toBe(2_505);
  expect(await idsOf("desc")).toEqual(ascending.toReversed());
  expect((await pageOf("asc", 26)).data).toHaveLength(5);
  expect(await pageOf("asc", 27)).toMatchObject({ data: [], meta: { itemCount: 2_505, hasNextPage: false } });
});
