import {
  getNamedType,
  isInputObjectType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  type GraphQLField,
} from "graphql";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { compileInterfaces } from "../../src/start/app";
import {
  periodicTasks,
  slowTasks,
  soleTasks,
  tasks,
  type PeriodicTask,
  type Task,
} from "../../src/worker/tasks";
import { newId } from "../../src/platform/database/values/ids";
import type { RunningApp } from "./app";
import { exampleOf } from "./examples";
import { run, variables } from "./operations";
import { operationOf, pathsBelow, type SchemaPath } from "./schema-paths";
import { callerOf, targets, type Target } from "./targets";
import { until } from "./until";
import { worlds, type World } from "./world";

const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
const query = schema.getQueryType()!;

/** The time so many days ago. */
const ago = (days: number) => new Date(Date.now() - days * 86_400_000);

/** A value for every field of the filters of lists, which few of many records have. */
const FILTERS: Readonly<Record<string, (world: World) => unknown>> = {
  actor: () => "SECRET",
  address: () => "203.0.113.9",
  assistantId: ({ assistantId }) => assistantId,
  assistantVersion: () => 3,
  channel: () => "SMS",
  chatId: () => "log-000777",
  createdAfter: () => ago(1),
  createdBefore: () => ago(100),
  deploymentId: () => "deployment-5",
  externalId: () => "external-5",
  from: () => ago(1),
  keyId: () => "other",
  kind: () => "DISCLOSURE",
  name: () => "function-call",
  operation: () => "createAssistant",
  person: () => "nobody",
  phoneNumber: () => "+41445",
  recordId: () => "log-000777",
  recordType: () => "Assistant",
  search: () => "zugzwang",
  startedAfter: () => ago(1),
  startedBefore: () => ago(100),
  status: () => "ended",
  to: () => ago(100),
  type: () => "SMS",
  userId: () => "user-5",
  workflowId: () => "workflow-5",
};
/** Filters that a list refuses without another one. */
const WITH: Readonly<Record<string, string>> = { assistantVersion: "assistantId" };

/** The request or task that runs at the moment, for messages. */
export interface Progress {
  now: string;
  /** Requests that were refused, of which statements are missing. */
  readonly refused: string[];
}

type Running = Pick<RunningApp, "api" | "app" | "database">;

/** All scalar fields at the end of a path. */
function leavesOf(path: SchemaPath): string {
  const type = getNamedType(path.at(-1)!.field.type);
  const leaves = isObjectType(type)
    ? Object.values(type.getFields()).filter(
        (field) => isLeafType(getNamedType(field.type)) && !field.args.some(isRequiredArgument),
      )
    : [];
  return `{ ${["__typename", ...leaves.map(({ name }) => name)].join(" ")} }`;
}

/** For each field after another one, a shortest path to it. */
function paths(): SchemaPath[] {
  const found = new Map<string, SchemaPath>();
  for (const name of Object.keys(query.getFields()))
    for (const path of pathsBelow(schema, query, name, () => true)) {
      const key = path
        .slice(-2)
        .map(({ on, field }) => `${on}.${field.name}`)
        .join(" ");
      if (path.length < (found.get(key)?.length ?? Infinity)) found.set(key, path);
    }
  return [...found.values()];
}

async function readPaths({ api }: Running, world: World, progress: Progress): Promise<void> {
  for (const path of paths()) {
    const root = path[0]!.field.name;
    progress.now = path.map(({ field }) => field.name).join(".");
    const target = targets.find(({ name, api }) => name === root && api === "GraphQL")!;
    const operation = operationOf("query", path, world, leavesOf(path));
    const { code } = await run(callerOf(target, api, world), operation, variables[root]!(world));
    if (code !== undefined) progress.refused.push(`${progress.now}: ${code}`);
  }
}

const NEWEST = "first: 5";
const PARTS = [NEWEST, "last: 5", "first: 5, orderBy: OLDEST_FIRST", "last: 5, orderBy: OLDEST_FIRST"];
type Field = GraphQLField<unknown, unknown>;

/** The filters of a list: none, each alone, and each of one assistant. */
function filtersOf(field: Field, world: World): object[] {
  const type = getNamedType(field.args.find(({ name }) => name === "filter")?.type);
  if (!isInputObjectType(type)) return [{}];
  const valueOf = (name: string) => {
    const value = FILTERS[name];
    if (value === undefined)
      throw new Error(`test/support/every-statement.ts lacks a value of ${String(type)}.${name}`);
    return value(world);
  };
  const names = Object.keys(type.getFields());
  const alone = names.map((name) => [name, ...(WITH[name] === undefined ? [] : [WITH[name]])]);
  const others = names.filter((name) => name !== "assistantId" && WITH[name] !== "assistantId");
  const ofAssistant = names.includes("assistantId") ? others.map((name) => [name, "assistantId"]) : [];
  return [[], ...alone, ...ofAssistant].map((chosen) =>
    Object.fromEntries(chosen.map((one) => [one, valueOf(one)])),
  );
}

/** Reads the first and the last page of every list in both orders, those after them, and its total, with each filter. */
async function readLists({ api }: Running, world: World, progress: Progress): Promise<void> {
  const lists = targets.filter(
    ({ api, changes, caller }) => api === "GraphQL" && !changes && caller === "key",
  );
  for (const { name } of lists) {
    const field = query.getFields()[name];
    const takes = (argument: string) => field?.args.some((arg) => arg.name === argument) === true;
    if (field === undefined || !takes("first")) continue;
    const filterType = field.args.find((arg) => arg.name === "filter")?.type;
    for (const filter of filtersOf(field, world)) {
      const ask = async (args: string, selection: string) => {
        progress.now = `${name} ${args} ${JSON.stringify(filter)}`;
        const given = filterType === undefined ? args : `${args}, filter: $filter`;
        const text = `query ${filterType === undefined ? "" : `($filter: ${String(filterType)})`} { ${name}(${given}) { ${selection} } }`;
        const { body } = await api.graphql(text, { filter });
        if (body.errors) progress.refused.push(`${progress.now}: ${body.errors[0].message}`);
        return body.data?.[name];
      };
      const parts = takes("orderBy") ? PARTS : takes("last") ? PARTS.slice(0, 2) : [NEWEST];
      for (const part of parts) {
        const found = await ask(part, "nodes { __typename } pageInfo { startCursor endCursor }");
        const { startCursor, endCursor } = found?.pageInfo ?? {};
        const further = part.startsWith("last") ? `before: "${startCursor}"` : `after: "${endCursor}"`;
        if (endCursor != null) await ask(`${part}, ${further}`, "nodes { __typename }");
      }
      await ask(NEWEST, "totalCount");
    }
  }
}

const REMOVES =
  /^(delete|remove|disconnect|end[A-Z]|cancel|discard|forget|detach|updateKey|updateDeployment)/;
/** Of all records; `removeMuch` uses a part. */
const OF_ALL = ["deleteLogs", "replayEvents"];

const isChosen = ({ name }: Target) => !OF_ALL.includes(name);
const removes = ({ name, changes }: Target) => changes && REMOVES.test(name);

async function ask({ api }: Running, target: Target, world: World, progress: Progress): Promise<void> {
  progress.now = target.title;
  const { code } = await target.ask(callerOf(target, api, world), world);
  if (code !== undefined) progress.refused.push(`${target.title}: ${code}`);
}

/** Runs every route and operation that removes nothing, reads first. */
async function runTargets(running: Running, world: World, progress: Progress): Promise<void> {
  const kept = targets.filter((target) => isChosen(target) && !removes(target));
  for (const target of [...kept.filter(({ changes }) => !changes), ...kept.filter(({ changes }) => changes)])
    await ask(running, target, world, progress);
}

/** Runs what removes something, each on small records of its own. */
async function runRemovingTargets(running: Running, progress: Progress): Promise<void> {
  const another = worlds(() => running.api);
  for (const target of targets.filter((one) => isChosen(one) && removes(one))) {
    const example = target.api === "REST" ? exampleOf(target.name) : variables[target.name]!;
    progress.now = "a world";
    const also = target.caller === "visitor" ? (["visitorToken"] as const) : [];
    await ask(running, target, await another(example, ...also), progress);
  }
}

const PEOPLE = [
  'uniqueId: "person-55"',
  'userId: "user-66"',
  'anonymousId: "anonymous-77"',
  'phoneNumber: "+414488"',
];

/** Changes many records at a time, and waits for the jobs that follow. */
async function changeMuch({ api, app, database }: Running, world: World, progress: Progress): Promise<void> {
  const ask = async (text: string, values: Record<string, unknown> = {}) => {
    progress.now = text;
    const { body } = await api.graphql(text, values);
    if (body.errors) progress.refused.push(`${text}: ${body.errors[0].message}`);
  };
  await ask("mutation ($input: ReplayEventsInput!) { replayEvents(input: $input) { events } }", {
    input: {
      destinationId: world.destinationId,
      filter: { createdAfter: ago(40.1), createdBefore: ago(40) },
    },
  });
  await ask("mutation ($filter: LogFilter!) { deleteLogs(filter: $filter) { __typename } }", {
    filter: { assistantId: world.assistantId, startedAfter: ago(50.1), startedBefore: ago(50) },
  });
  for (const person of PEOPLE) {
    await ask(`mutation { exportEndUser(${person}) { __typename } }`);
    await ask(`mutation { forgetEndUser(${person}) { __typename } }`);
  }
  progress.now = "jobs";
  await idle(database);
  await ask(
    "mutation { updateRetention(input: { logsDays: 135, recordingsDays: 130, eventsDays: 130 }) { __typename } }",
  );
  progress.now = "sms.remove";
  await ask("mutation ($connectionId: ID!) { disconnectTelephony(id: $connectionId) { id } }", { ...world });
  const { id } = await api.get("/rest/v1/organization", 200);
  await slowTasks["sms.remove"].run(app.database.scope(id), { ...world });
  await database.query("update retentions set told_at = told_at - interval '30 days'");
  for (const [name, { run }] of Object.entries<PeriodicTask>(periodicTasks)) {
    progress.now = name;
    await run(app.database, { idleMinutes: 60 }, AbortSignal.timeout(2_000));
  }
}

/** Runs every task, and what follows when it is given up, for records of the world. */
async function runTasks({ api, app }: Running, world: World, progress: Progress): Promise<void> {
  const { id } = await api.get("/rest/v1/organization", 200);
  const scope = app.database.scope(id);
  const { connectionId, fileId, assistantId, erasureId, exportId } = world;
  const ids = {
    connectionId,
    fileId,
    assistantId,
    erasureId,
    exportId,
    messageSid: "sample-own-7",
    smsId: "sample-own-7",
  };
  const atEngine = { callId: newId(), since: new Date().toISOString() };
  const others = {
    ...atEngine,
    destinationId: newId(),
    providerErasureId: newId(),
    archiveId: newId(),
    to: "+41787",
    text: "Hello",
  };
  for (const [name, { run, givenUp }] of Object.entries<Task>({ ...tasks, ...soleTasks, ...slowTasks })) {
    const payload = { ...ids, ...others, chatId: name.startsWith("call.") ? world.callId : world.chatId };
    progress.now = name;
    const mayFail = () => undefined; // what nobody has asked for, such as a call to erase
    await run(scope, payload, false).catch(mayFail);
    await givenUp(scope, payload).catch(mayFail);
  }
}

/** Waits until no job is due, except those that are tried again and again. */
const idle = ({ query }: Running["database"]) =>
  until(
    async () =>
      (
        await query(
          "select from graphile_worker.jobs where run_at <= now() and attempts = 0 and key is distinct from task_identifier",
        )
      ).length === 0,
    60_000,
  );

/** Reads every field and list, and runs every route and operation that removes nothing, on the large records of a world. */
export async function runRequests(running: Running, world: World, progress: Progress): Promise<void> {
  await readPaths(running, world, progress);
  await readLists(running, world, progress);
  await runTargets(running, world, progress);
}

/** Runs every operation that removes something, and every task. */
export async function runRemovals(running: Running, world: World, progress: Progress): Promise<void> {
  await runRemovingTargets(running, progress);
  await runTasks(running, world, progress);
  await changeMuch(running, world, progress);
}
