import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { CONNECTION_PARENTS, connectionsOf } from "../support/connections";
import { newAssistant, newChat } from "../support/factories";
import { buildSeveral } from "../support/several";

const running = useApp();
const FOUND = connectionsOf();
const CONNECTIONS = Object.values(FOUND).map(({ type, field }) => [type, field] as const);

let api: Api;
let variables: { assistantId: string; destinationId: string };
beforeAll(async () => {
  const organization = await running.otherOrganization();
  ({ api } = organization);
  const destinations: string[] = [];
  for (let index = 0; index < 5; index++)
    destinations.push(
      (await api.post("/rest/v1/settings", { url: "https://example.com", secret: "s" }, 201)).id as string,
    );
  const assistantId = await newAssistant(api);
  for (const name of ["Bea", "Cyd", "Dan", "Eve"])
    await api.patch(`/rest/v1/assistants/${assistantId}`, { name }, 200);
  for (let index = 0; index < 5; index++) await newChat(api, assistantId, { uniqueId: "ada" });
  await buildSeveral(api, organization.publicKey, 3);
  variables = { assistantId, destinationId: destinations[0]! };
});

interface Page {
  readonly totalCount: number;
  readonly edges: readonly { readonly cursor: string }[];
  readonly pageInfo: Readonly<Record<"startCursor" | "endCursor", string | null>> & {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
  };
}
type Given = Readonly<Record<string, unknown>>;

const FIELDS =
  "totalCount edges { cursor node { __typename } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";

const documentOf = (type: string, field: string) => FOUND[`${type}.${field}`]!.document(FIELDS);

async function read(type: string, field: string, given: Given): Promise<Page> {
  const text = documentOf(type, field);
  const named = Object.entries(variables).filter(([name]) => text.includes(`$${name}`));
  const data = await api.gql(text, { ...given, ...Object.fromEntries(named) });
  return FOUND[`${type}.${field}`]!.pageIn(data) as Page;
}

const cursors = ({ edges }: Page) => edges.map(({ cursor }) => cursor);

test("connections of every type are read", () => {
  expect(new Set(CONNECTIONS.map(([type]) => type))).toEqual(
    new Set(["Query", ...Object.keys(CONNECTION_PARENTS)]),
  );
  expect(CONNECTIONS.length).toBeGreaterThanOrEqual(16);
});

describe.each(CONNECTIONS)("%s.%s", (type, field) => {
  test.each(["NEWEST_FIRST", "OLDEST_FIRST"])(
    "has the same list forward and backward, and counts it: %s",
    async (orderBy) => {
      const whole = await read(type, field, { first: 100, orderBy });
      const list = cursors(whole);
      expect(list.length).toBeGreaterThanOrEqual(3);
      expect(whole.totalCount).toBe(list.length);
      const forward: string[] = [];
      for (let after: string | null = null; ;) {
        const page: Page = await read(type, field, { first: 2, after, orderBy });
        expect(page.pageInfo.hasPreviousPage).toBe(after !== null);
        expect([page.pageInfo.startCursor, page.pageInfo.endCursor]).toEqual([
          cursors(page)[0],
          cursors(page).at(-1),
        ]);
        forward.push(...cursors(page));
        if (!page.pageInfo.hasNextPage) break;
        after = page.pageInfo.endCursor;
      }
      expect(forward).toEqual(list);
      const backward: string[] = [];
      for (let before: string | null = null; ;) {
        const page: Page = await read(type, field, { last: 2, before, orderBy });
        expect(page.pageInfo.hasNextPage).toBe(before !== null);
        backward.unshift(...cursors(page));
        if (!page.pageInfo.hasPreviousPage) break;
        before = page.pageInfo.startCursor;
      }
      expect(backward).toEqual(list);
    },
  );

  test("oldest first is the opposite of newest first, which is the default", async () => {
    const newest = cursors(await read(type, field, { first: 100 }));
    expect(cursors(await read(type, field, { last: 100, orderBy: "NEWEST_FIRST" }))).toEqual(newest);
    expect(cursors(await read(type, field, { first: 100, orderBy: "OLDEST_FIRST" }))).toEqual(
      newest.toReversed(),
    );
  });

  test("has the entries between two cursors", async () => {
    const list = cursors(await read(type, field, { first: 100 }));
    const [after, before] = [list[0], list.at(-1)];
    const between = await read(type, field, { first: 100, after, before });
    expect(cursors(between)).toEqual(list.slice(1, -1));
    expect(between.totalCount).toBe(list.length);
    expect(cursors(await read(type, field, { last: 100, after, before }))).toEqual(list.slice(1, -1));
    expect(cursors(await read(type, field, { last: 2, after, before }))).toEqual(list.slice(1, -1).slice(-2));
  });

  test("refuses both ends at once, and cursors and sizes that no list has", async () => {
    const named = Object.fromEntries(
      Object.entries(variables).filter(([name]) => documentOf(type, field).includes(`$${name}`)),
    );
    const problem = async (given: Given) =>
      (await api.gqlError(documentOf(type, field), { ...given, ...named })).extensions;
    expect(await problem({ first: 1, last: 1 })).toMatchObject({
      code: "BAD_USER_INPUT",
      details: [{ path: "last", message: "must not be given together with first" }],
    });
    for (const path of ["after", "before"])
      expect(await problem({ [path]: "abc" })).toMatchObject({
        code: "BAD_USER_INPUT",
        details: [{ path, message: expect.stringContaining('got "abc"') }],
      });
    for (const [path, size] of [
      ["first", 0],
      ["last", 101],
    ] as const)
      expect(await problem({ [path]: size })).toMatchObject({ code: "BAD_USER_INPUT", details: [{ path }] });
  });
});

test("a key that is limited to an assistant lists and counts only what it may read", async () => {
  const { assistantId } = variables;
  const limits = { type: "SECRET", permissions: ["read", "keys"], assistantIds: [assistantId] };
  const { createKey: key } = await api.gql(
    "mutation ($input: CreateKeyInput!) { createKey(input: $input) { id value } }",
    { input: limits },
  );
  const limited = api.as({ "X-API-Key": key.value });
  const listed = await limited.gql(
    `{ keys { id } keysConnection { totalCount nodes { id } }
       chats(first: 100) { totalCount nodes { assistant { id } } }
       logs(first: 100) { totalCount nodes { assistantId } }
       events(first: 1) { nodes { data { __typename ... on ConversationUpdatedData { messages { role } } } } }
       assistant(id: "${assistantId}") { chats(first: 100) { totalCount nodes { id } } } }`,
  );
  expect(listed.keys).toEqual([{ id: key.id }]);
  expect(listed.keysConnection).toEqual({ totalCount: 1, nodes: listed.keys });
  expect(listed.events.nodes).toEqual([{ data: expect.objectContaining({ __typename: expect.anything() }) }]);
  for (const page of [listed.chats, listed.logs, listed.assistant.chats]) {
    expect(page.nodes).toHaveLength(5);
    expect(page.totalCount).toBe(5);
  }
});
