import { spawn } from "node:child_process";
import { once } from "node:events";
import { beforeAll, describe, expect, test } from "@jest/globals";
import {
  getNamedType,
  isInterfaceType,
  isLeafType,
  isNonNullType,
  isObjectType,
  isUnionType,
  type GraphQLNamedType,
} from "graphql";
import { routes } from "../../rest-compat/routes/index";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { compileInterfaces } from "../../src/start/app";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { exampleOf, send } from "../support/examples";
import { endChat, newAssistant } from "../support/factories";
import { importerOf } from "../support/importers";
import { operationsOf, variables } from "../support/operations";
import { RUN, runToEnd, type ProcessResult } from "../support/server";
import { LONG } from "../support/suite";
import { until } from "../support/until";
import { buildWorld, RECORDS, type World } from "../support/world";
import { OF_GRAPHQL, OF_REST } from "./import-differences";

const [ASSISTANTS, LOGS] = LONG ? [200, 10_000] : [20, 500];
const PER_ASSISTANT = LOGS / ASSISTANTS;
/** Time for the long suite, in milliseconds. */
const TIMEOUT_MS = 900_000;

const source = useApp();
const target = useApp();
const assistants: string[] = [];
let world: World;
let from: Api;
/** The copy, with the key of the source. */
let old: Api;
let before: number;
let completed: ProcessResult;

/** A call would be live, and live conversations are not copied. */
const COPIED_OR_LISTED = RECORDS.filter((record) => record !== "callId");

const STORE =
  "mutation ($assistantId: ID!, $logs: [ImportLogInput!]!) { importLogs(assistantId: $assistantId, logs: $logs) { imported } }";

beforeAll(async () => {
  const { api, secretKey } = await source.otherOrganization();
  from = api;
  await fill();
  world = await buildWorld(from, COPIED_OR_LISTED);
  await endChat(from, world.chatId);
  await endChat(from, world.visitorChatId);

  const { api: copy } = await target.otherOrganization();
  const { headers } = await importerOf(copy);
  const options = ["rest", "--from", source.url, "--from-key", secretKey];
  const env = { PARLEY_URL: target.url, PARLEY_KEY: headers["X-API-Key"]! };
  const child = spawn(process.execPath, [RUN, "cli/import", ...options], { env, stdio: "ignore" });
  const ended = once(child, "exit");
  await until(async () => (await countIn(copy)) > LOGS / 3, TIMEOUT_MS);
  child.kill("SIGKILL");
  expect(await ended).toEqual([null, "SIGKILL"]);
  before = await countIn(copy);
  completed = await runToEnd("cli/import", env, ...options);
  old = copy.as({ "X-API-Key": secretKey });
  const { keys } = (await old.gql("{ keys { id value } }")) as { keys: { id: string; value: string }[] };
  const { id } = keys.find(({ value }) => value === headers["X-API-Key"])!;
  await old.gql("mutation ($id: ID!) { deleteKey(id: $id) { id } }", { id });
}, TIMEOUT_MS);

async function fill(): Promise<void> {
  const importer = await importerOf(from);
  for (let index = 0; index < ASSISTANTS; index++) {
    const assistantId = await newAssistant(from, { name: `Assistant ${index}` });
    assistants.push(assistantId);
    const logs = Array.from({ length: PER_ASSISTANT }, (_, n) => logOf(index, n));
    for (let at = 0; at < logs.length; at += 50)
      await importer.gql(STORE, { assistantId, logs: logs.slice(at, at + 50) });
  }
}

/** A conversation of ten messages. */
function logOf(assistant: number, index: number) {
  const start = Date.UTC(2024, 0, 1) + (assistant * PER_ASSISTANT + index) * 60_000;
  const messages = Array.from({ length: 10 }, (_, n) => ({
    role: n % 2 === 0 ? "USER" : "ASSISTANT",
    content: `Message ${n} of conversation ${index} with assistant ${assistant}. ${"words ".repeat(30)}`,
    createdAt: new Date(start + n * 1_000).toISOString(),
  }));
  return { id: `${assistant}/${index}`, type: "TEXT", createdAt: new Date(start).toISOString(), messages };
}

const countIn = async (api: Api): Promise<number> =>
  (await api.gql("{ logs(first: 1) { totalCount } }")).logs.totalCount;

test(
  `${ASSISTANTS} assistants and ${LOGS} logs from a running server, in spite of a kill: the same lists and logs`,
  async () => {
    expect(before).toBeLessThan(LOGS);
    expect(completed.stdout).toContain(`already here`);
    expect(await countIn(old)).toBe(await countIn(from));
    for (const path of pathsToCompare())
      expect([path, await old.get(path, 200)]).toEqual([path, await from.get(path, 200)]);
  },
  TIMEOUT_MS,
);

/** All pages of assistants and logs, and the last log of each assistant. */
function* pathsToCompare(): Generator<string> {
  for (let page = 1; page <= Math.ceil(ASSISTANTS / 100); page++)
    yield `/rest/v1/assistants?order=asc&take=100&page=${page}`;
  for (const [index, id] of assistants.entries()) {
    yield `/rest/v1/assistants/${id}/chat`;
    for (const order of ["asc", "desc"]) yield `/rest/v1/assistants/${id}/logs?order=${order}&take=100`;
    yield `/rest/v1/assistants/${id}/log/${encodeURIComponent(`${index}/${PER_ASSISTANT - 1}`)}`;
  }
}

/** The paths of all values that differ; `*` stands for any place in a list. */
function differences(one: unknown, other: unknown, path = ""): string[] {
  if (Object.is(one, other)) return [];
  if (!isComposite(one) || !isComposite(other) || Array.isArray(one) !== Array.isArray(other)) return [path];
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  const found = names.flatMap((name) => {
    const at = Array.isArray(one) ? "*" : name;
    return differences(one[name], other[name], path === "" ? at : `${path}.${at}`);
  });
  return [...new Set(found)].sort();
}

const isComposite = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

describe("the copy answers with the old key and ids as the source does, except what is listed:", () => {
  const reads = routes.filter(({ method, document }) => method === "get" && document !== undefined);

  test.each(reads)("GET $path", async (route) => {
    const example = exampleOf(route.id)(world);
    const [there, here] = [await send(from, route, example), await send(old, route, example)];
    expect(there.status).toBe(route.success);
    expect(here.status).toBe(route.success);
    expectOnly(differences(there.body, here.body), OF_REST[route.id]);
  });

  const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
  // Visitors have credentials of their own, and there is no call.
  const queries = operationsOf(schema).filter(
    ({ kind, name }) => kind === "query" && !/^(widget|call$)/.test(name),
  );

  /** All fields without required arguments; records of a page are a level below it. */
  const selectionOf = (type: GraphQLNamedType, depth?: number): string => {
    if (isInterfaceType(type)) return "{ __typename id }";
    if (isUnionType(type))
      return `{ __typename ${type
        .getTypes()
        .map((one) => `... on ${one.name} ${selectionOf(one, depth)}`)
        .join(" ")} }`;
    if (!isObjectType(type)) return "";
    const left = depth ?? (["nodes", "data"].some((name) => name in type.getFields()) ? 3 : 2);
    const fields = Object.values(type.getFields())
      .filter(({ args }) => args.every(({ type }) => !isNonNullType(type)))
      .filter(({ type }) => isLeafType(getNamedType(type)) || left > 1)
      .map(({ name, type }) => `${name} ${selectionOf(getNamedType(type), left - 1)}`);
    return `{ __typename ${fields.join(" ")} }`;
  };

  test.each(queries)("query $name", async ({ name, text }) => {
    const { type } = schema.getQueryType()!.getFields()[name]!;
    const query = text.replace("{ __typename }", selectionOf(getNamedType(type)));
    const values = withoutProject(variables[name]!(world));
    const [there, here] = await Promise.all([from, old].map((api) => api.graphql(query, values)));
    expect(there!.body.errors).toBeUndefined();
    const [code] = (here!.body.errors ?? []).map(({ extensions }: Refusal) => extensions.code);
    const found = differences(there!.body.data[name], here!.body.data?.[name]);
    expectOnly(code === undefined ? found : [code], OF_GRAPHQL[name]);
  });
});

describe("the copy takes the writes of REST clients with the old key and ids as the source does:", () => {
  const isDelete = ({ method }: { method: string }) => method === "delete";
  const writes = routes.filter(({ method, document }) => method !== "get" && document !== undefined);
  const inOrder = [...writes.filter((route) => !isDelete(route)), ...writes.filter(isDelete)];
  const fieldsOf = ({ body }: { body: unknown }) => (isComposite(body) ? Object.keys(body).sort() : body);

  test.each(inOrder)("$method $path", async (route) => {
    const example = exampleOf(route.id)(world);
    const [there, here] = [await send(from, route, example), await send(old, route, example)];
    // No client of the REST interface can read a workflow.
    if (route.id === "callWithWorkflow") return expect([there.status, here.status]).toEqual([200, 400]);
    expect([here.status, fieldsOf(here)]).toEqual([there.status, fieldsOf(there)]);
  });
});

interface Refusal {
  readonly extensions: { readonly code: string };
}

/** Lists without the filter by project, which is not copied. */
const withoutProject = (values: Record<string, unknown>): Record<string, unknown> =>
  JSON.parse(
    JSON.stringify(values, (name, value: unknown) => (name === "projectId" ? undefined : value)),
  ) as Record<string, unknown>;

/** Expects no difference but the listed ones, and at least one if some are listed. */
function expectOnly(found: readonly string[], listed: readonly string[] = []): void {
  expect(found.filter((path) => !listed.includes(path))).toEqual([]);
  expect(found.length > 0).toBe(listed.length > 0);
}
