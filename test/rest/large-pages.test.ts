import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { form } from "../support/world";

const running = useApp();
const COUNT = 100;
/** Nearly as large as a free-form object may be, with nearly as many keys. */
const LARGE = Object.fromEntries(
  Array.from({ length: 19_000 }, (_, index) => [`name ${index}`, "v".repeat(36)]),
);
const LARGE_TEXT = JSON.stringify(LARGE);

let limited: Api;
let ids: string[];

/** Copies a record until there are COUNT of it. @returns their ids, in order */
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
    { assistantIds: ids.slice(50) },
    200,
  );
  limited = running.api.as({ "X-API-Key": value });
}, 60_000);

/** Without parsing a hundred times what is large. */
const entriesOf = (text: string, large: string) => {
  const short = text.replaceAll(large, "1");
  expect(short.length).toBeLessThan(100_000);
  return JSON.parse(short) as { data: Record<string, unknown>[]; meta: object };
};

describe("a page of 100 records of 1 MiB each", () => {
  test("lists all assistants", async () => {
    const answer = await running.api.request("GET", `/rest/v1/assistants?take=100&order=asc`);
    expect(answer.status).toBe(200);
    const { data, meta } = entriesOf(answer.text, LARGE_TEXT);
    expect(data.map(({ id }) => id)).toEqual(ids);
    expect(data.map(({ variables }) => variables)).toEqual(ids.map(() => 1));
    expect(meta).toMatchObject({ take: 100, itemCount: COUNT, hasNextPage: false });
  }, 60_000);

  test("lists what a search finds of the assistants that a key may reach", async () => {
    const answer = await limited.request("GET", "/rest/v1/assistants?take=10&order=asc&search=larg");
    expect(answer.status).toBe(200);
    const { data, meta } = entriesOf(answer.text, LARGE_TEXT);
    expect(data.map(({ id }) => id)).toEqual(ids.slice(50, 60));
    expect(meta).toMatchObject({ itemCount: 50 });
  }, 60_000);

  test("lists all files", async () => {
    const file = await running.api.request("POST", "/rest/v1/files/upload", form("a.txt", "text", LARGE));
    const columns = "name, mime_type, detected_type, size, metadata";
    const fileIds = await copy("files", columns, file.body.id);
    const answer = await running.api.request("GET", "/rest/v1/files?take=100&order=asc");
    expect(answer.status).toBe(200);
    const { data } = entriesOf(answer.text, LARGE_TEXT);
    expect(data.map(({ id }) => id)).toEqual(fileIds);
    expect(data.map(({ metadata, size }) => [metadata, size])).toEqual(ids.map(() => [1, 4]));
  }, 60_000);
});
