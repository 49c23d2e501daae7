import { AsyncLocalStorage } from "node:async_hooks";
import { beforeAll, expect, test } from "@jest/globals";
import {
  getNamedType,
  getNullableType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  isRequiredArgument,
  parse,
} from "graphql";
import type { Knex } from "knex";
import { AUTHORIZATION } from "../../schema/core/authorization";
import { makeContext } from "../../schema/core/context";
import type { Visitor } from "../../src/account/auth/caller";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { compileInterfaces } from "../../src/start/app";
import { useApp } from "../support/app";
import { variables } from "../support/operations";
import { nameOf, operationOf, pathsBelow, type SchemaPath } from "../support/schema-paths";
import { buildSeveral, type Several } from "../support/several";
import { unknownWorld, type World } from "../support/world";

const running = useApp();
const { schema, engine } = compileInterfaces(loadCatalog(), readConfig({}));
const query = schema.getQueryType()!;
const ENTRIES = [1, 3] as const;

/** An organization with one record of each kind, or with several. */
interface Side {
  readonly entries: number;
  readonly organizationId: string;
  readonly visitor: Visitor;
  readonly world: World;
}
const sides: Side[] = [];
const statements = new AsyncLocalStorage<string[]>();

beforeAll(async () => {
  // Every statement passes through the events of a pool. That of the primary is private to the service.
  const { knex } = running.app.database as unknown as { readonly knex: Knex };
  const { replica } = running.app.database.scope("").ports;
  const isOfRequest = (sql: string) => !sql.includes("pg_last_wal_replay_lsn"); // asked of a replica now and then
  for (const pool of [knex, ...(replica ? [replica.db] : [])])
    pool.on(
      "query",
      ({ sql }: { sql: string }) => void (isOfRequest(sql) && statements.getStore()?.push(sql)),
    );
  for (const entries of ENTRIES) {
    const { api, publicKey } = await running.otherOrganization();
    const { id: organizationId } = await api.get("/rest/v1/organization", 200);
    const made = await buildSeveral(api, publicKey, entries);
    const world = { ...unknownWorld(), ...made };
    sides.push({ entries, organizationId, visitor: visitorOf(made), world });
    // A process asks the database once whether indexes are built and chats are counted.
    await api.gql("{ events { totalCount } chats { totalCount } }");
  }
});

function visitorOf({ visitorToken }: Several): Visitor {
  const [, claims] = visitorToken.split(".");
  return JSON.parse(Buffer.from(claims!, "base64url").toString()).visitor as Visitor;
}

/** Variables of roots whose examples would find nothing, or records of several kinds. */
const VARIABLES: Readonly<Record<string, (world: World) => Record<string, unknown>>> = {
  events: () => ({ filter: { name: "conversation-updated" } }),
  webhookDestinations: ({ projectId }) => ({ projectId }),
  webhookDestinationsConnection: ({ projectId }) => ({ projectId }),
  deployments: () => ({}),
  deploymentsConnection: () => ({}),
  workflows: () => ({}),
  workflowsConnection: () => ({}),
  calls: () => ({}),
  logs: () => ({}),
  assistants: () => ({}),
};

function variablesFor({ field }: SchemaPath[number], { world, entries }: Side) {
  const values = (VARIABLES[field.name] ?? variables[field.name]!)(world);
  const sizes = field.args.filter(({ name }) => ["first", "take"].includes(name));
  const size = field.name === "deploymentsConnection" ? 2 * entries : entries; // of two types each
  return { ...values, ...Object.fromEntries(sizes.map(({ name }) => [name, size])) };
}

/** All scalar fields at the end of a path. */
function leavesOf(path: SchemaPath): string {
  const type = getNamedType(path.at(-1)!.field.type);
  const leaves = isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [];
  const names = leaves
    .filter(({ type, args }) => isLeafType(getNamedType(type)) && !args.some(isRequiredArgument))
    .map(({ name }) => name);
  return `{ ${["__typename", ...names].join(" ")} }`;
}

interface Run {
  readonly sql: readonly string[];
  /** Number of objects whose field is read last, and of objects that it returns. */
  readonly parents: number;
  readonly found: number;
}

async function run(path: SchemaPath, side: Side): Promise<Run> {
  const { organizationId, visitor, world, entries } = side;
  const root = path[0]!;
  const isVisitors = AUTHORIZATION[root.field.name] === "visitor";
  const caller = isVisitors
    ? ({ organizationId, kind: "VISITOR", visitor } as const)
    : ({ organizationId, kind: "SECRET" } as const);
  const { text } = operationOf("query", path, world, leavesOf(path), entries);
  const context = makeContext(running.app.database, caller, { requestId: "statements" });
  const sql: string[] = [];
  const { data, errors } = await statements.run(sql, () =>
    engine.compile(parse(text))(context, variablesFor(root, side)),
  );
  const names = path.map(({ field }) => field.name);
  expect([nameOf(path), errors]).toEqual([nameOf(path), undefined]);
  return { sql, parents: at(data, names.slice(0, -1)).length, found: at(data, names).length };
}

/** The objects at a path, in all entries of lists. */
function at(value: unknown, [name, ...rest]: readonly string[]): unknown[] {
  if (value == null) return [];
  if (Array.isArray(value)) return value.flatMap((one) => at(one, name === undefined ? [] : [name, ...rest]));
  return name === undefined ? [value] : at((value as Record<string, unknown>)[name], rest);
}

const isList = ({ field }: SchemaPath[number]) => isListType(getNullableType(field.type));
const stepOf = ({ on, field }: SchemaPath[number]) => `${on}.${field.name}`;

/** Finds the log of at most one of its parents; the others have an error. */
const OF_ONE_PARENT = "Assistant.log";

/** A path, and those that lead from its end back to a type on it. */
function withReturns(path: SchemaPath): SchemaPath[] {
  const type = getNamedType(path.at(-1)!.field.type);
  const fields = isObjectType(type) ? Object.values(type.getFields()) : [];
  const met = path.map(({ field }) => getNamedType(field.type));
  const back = fields.filter(
    (field) => isObjectType(getNamedType(field.type)) && met.includes(getNamedType(field.type)),
  );
  return [path, ...back.map((field) => [...path, { on: type.name, field }])];
}

/** Number of paths with the same two last steps, each from another root. */
const ALIKE = 3;

/** For each field after another one, the shortest paths on which it may have several parents. */
function paths(): SchemaPath[] {
  const found = new Map<string, Map<string, SchemaPath>>();
  const lists = Object.values(query.getFields()).filter(
    ({ args }) => !args.some(({ name }) => ["id", "ids"].includes(name)),
  );
  for (const { name: root } of lists)
    for (const path of pathsBelow(schema, query, root, () => true).flatMap(withReturns)) {
      const steps = path.map(stepOf);
      if (steps.includes(OF_ONE_PARENT) || !path.slice(0, -1).some(isList)) continue;
      const key = steps.slice(-2).join(" ");
      const known = found.get(key) ?? new Map<string, SchemaPath>();
      if (path.length < (known.get(root)?.length ?? Infinity)) known.set(root, path);
      found.set(key, known);
    }
  const byLength = (a: SchemaPath, b: SchemaPath) => a.length - b.length;
  return [...found.values()].flatMap((alike) => [...alike.values()].toSorted(byLength).slice(0, ALIKE));
}

/** Parts of their parent's own data, of which the records of this test have none or only one. */
const WITHIN_ITS_PARENT = [
  "AnalyticsDay.answerTimes",
  "AnalyticsDay.channels",
  "AnswerTimes.buckets",
  "Assistant.toolServers",
  "Delivery.attempts",
  "EndUser.facts",
  "Message.reply",
  "StatusChangedData.messages",
];

test("the number of statements does not depend on the number of parents, on any path", async () => {
  const chosen = paths();
  const severalFound = new Set<string>();
  const dependent: unknown[] = [];
  for (const path of chosen) {
    const [one, more] = [await run(path, sides[0]!), await run(path, sides[1]!)];
    if (one.found > 0 && more.found > one.found && more.parents > one.parents)
      severalFound.add(stepOf(path.at(-1)!));
    if (one.sql.length !== more.sql.length) dependent.push([nameOf(path), one.sql, more.sql]);
  }
  expect(dependent).toEqual([]);
  const all = new Set(chosen.map((path) => stepOf(path.at(-1)!)));
  const unproven = [...all].filter((step) => !severalFound.has(step));
  expect(unproven.toSorted()).toEqual(WITHIN_ITS_PARENT);
});

test("the same log of several assistants is read once", async () => {
  const document = parse(
    `query ($take: Int, $id: ID!) { assistants(take: $take) { data { log(id: $id) { id messages } } } }`,
  );
  const counts = sides.map(async ({ organizationId, world, entries }) => {
    const context = makeContext(
      running.app.database,
      { organizationId, kind: "SECRET" },
      { requestId: "log" },
    );
    const sql: string[] = [];
    await statements.run(sql, () => engine.compile(document)(context, { take: entries, id: world.chatId }));
    return sql.length;
  });
  const [one, more] = await Promise.all(counts);
  expect(more).toBe(one);
});

test("nodes reads one or several records of each type by as many statements, and finds all ids by one", async () => {
  const LISTS = `{ assistants { data { id chat { id } } } logs { nodes { id chat { user { id } } } } projects { id } files { data { id } }
    workflows { id nodes { id } edges { id } } deployments { id } telephonyConnections { id } keys { id }
    events { nodes { id } } erasures { nodes { id } } endUserExports { nodes { id } } }`;
  const counts: number[] = [];
  for (const { organizationId, entries } of sides) {
    const ask = async (text: string, variables: object, sql: string[] = []) => {
      const context = makeContext(
        running.app.database,
        { organizationId, kind: "SECRET" },
        { requestId: "nodes" },
      );
      return statements.run(sql, () =>
        engine.compile(parse(text))(context, variables as Record<string, unknown>),
      );
    };
    const found = JSON.stringify((await ask(LISTS, {})).data);
    const ids = [...new Set([...found.matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id))];
    const sql: string[] = [];
    const { data, errors } = await ask(
      "query ($ids: [ID!]!) { nodes(ids: $ids) { __typename } }",
      { ids },
      sql,
    );
    const names = (data as { nodes: { __typename: string }[] }).nodes.map(({ __typename }) => __typename);
    expect([errors, names.length]).toEqual([undefined, ids.length]);
    expect(new Set(names).size).toBe(15);
    expect(names.filter((name) => name === "Project")).toHaveLength(entries);
    expect(sql.filter((text) => text.includes(" union all "))).toHaveLength(1);
    counts.push(sql.length);
  }
  expect(counts[1]).toBe(counts[0]);
});

test("the page of each project has its own assistants, their number, and long values", async () => {
  const { api } = await running.otherOrganization();
  const variables = { text: "x".repeat(300_000) };
  const make = async (mutation: string, input: object): Promise<string> => {
    const document = `mutation ($input: ${mutation[0]!.toUpperCase()}${mutation.slice(1)}Input!) { ${mutation}(input: $input) { id } }`;
    return (await api.gql(document, { input }))[mutation].id;
  };
  const expected: object[] = [];
  for (const count of [3, 0, 1]) {
    const projectId = await make("createProject", { name: "Project" });
    const ids: string[] = [];
    for (let index = 0; index < count; index++)
      ids.push(await make("createAssistant", { name: "Ada", projectId, ...(index === 1 && { variables }) }));
    const data = ids.slice(0, 2).map((id, index) => ({ id, variables: index === 1 ? variables : null }));
    expected.unshift({
      first: { data, meta: { itemCount: count, pageCount: Math.ceil(count / 2), hasNextPage: count > 2 } },
      second: { data: ids.slice(2).map((id) => ({ id })) },
      newest: { data: ids.slice(-1).map((id) => ({ id })) },
    });
  }
  const { projects } = await api.gql(`{ projects {
    first: assistants(take: 2, order: asc) { data { id variables } meta { itemCount pageCount hasNextPage } }
    second: assistants(take: 2, page: 2, order: asc) { data { id } }
    newest: assistants(take: 1) { data { id } } } }`);
  expect(projects).toEqual(expected);
});
