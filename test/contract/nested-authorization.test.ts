import { beforeAll, describe, expect, test } from "@jest/globals";
import { getNamedType, parse, type GraphQLObjectType } from "graphql";
import { authorize, AUTHORIZATION, type Rule } from "../../schema/core/authorization";
import { makeContext } from "../../schema/core/context";
import { contentOf, rootsOf } from "../../schema/core/type-rules";
import { compileInterfaces } from "../../src/start/app";
import type { Caller } from "../../src/account/auth/caller";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { run, variables, type Operation } from "../support/operations";
import { nameOf, operationOf, pathsBelow, type SchemaPath } from "../support/schema-paths";
import { buildWorld, type World } from "../support/world";

const running = useApp({ RATE_LIMIT_ORGANIZATION: "1000000" });
const { schema, engine } = compileInterfaces(loadCatalog(), readConfig({}));
const roots = rootsOf(schema);
/** They have the rules of the record that they return, which test/contract/nodes.test.ts compares. */
const BY_RECORD = ["node", "nodes"];

let world: World;
const credentials: Record<string, Api> = {};
beforeAll(async () => {
  const { api, publicKey } = running;
  world = await buildWorld(api);
  const bearer = (value: string) => api.as({ Authorization: `Bearer ${value}` });
  const { token } = await api.post("/rest/v1/organization/token", {}, 200);
  const { token: userToken } = await api.post("/rest/v1/organization/token", { userId: "ada" }, 200);
  const { analyticUrl } = await api.get("/rest/v1/organization", 200);
  Object.assign(credentials, {
    "a SECRET key": api,
    "a PUBLIC key": api.as({ "X-API-Key": publicKey }),
    "a token": bearer(token),
    "a token with userId": bearer(userToken),
    "a visitor's session": bearer(world.visitorToken!),
    "an analytics token": bearer(new URL(analyticUrl).hash.replace("#token=", "")),
  });
});

/** A caller of each kind, with the properties that rules use. */
const CALLERS: Readonly<Record<string, Omit<Caller, "organizationId">>> = {
  "a SECRET key": { kind: "SECRET" },
  "a PUBLIC key": { kind: "PUBLIC" },
  "a token": { kind: "TOKEN" },
  "a token with userId": { kind: "TOKEN", userId: "ada" },
  "a visitor's session": { kind: "VISITOR" },
  "an analytics token": { kind: "ANALYTICS" },
  "the anonymous caller of the settings paths": { kind: "ANONYMOUS" },
};

/** Types that no query returns, whose readers are those of an operation instead of those of their parent. */
const AS_THE_OPERATION: Readonly<Record<string, string>> = {
  AttachedFile: "attachFile",
  ToolServer: "updateToolServers",
};
/** Fields that an operation creates for its caller, who may read them. */
const MADE_FOR_THE_CALLER = ["startWidgetSession.widget"];

function allows(rule: Rule, caller: Omit<Caller, "organizationId">): boolean {
  try {
    authorize(rule, { organizationId: "", ...caller });
    return true;
  } catch {
    return false;
  }
}

const CHANGES = new Set(Object.keys(schema.getMutationType()!.getFields()));

/** Operations that return a type at the root: queries and subscriptions, else mutations. */
const readAt = new Map<string, string[]>();
for (const reads of [true, false]) {
  const found = new Map<string, string[]>();
  for (const root of roots.filter((root) => (root === schema.getMutationType()) !== reads))
    for (const { name, type } of Object.values(root.getFields())) {
      const content = contentOf(getNamedType(type)).name;
      found.set(content, [...(found.get(content) ?? []), name]);
    }
  for (const [type, names] of found) if (!readAt.has(type)) readAt.set(type, names);
}

/** Whether the rules of the root fields allow a caller to read the object at the end of a path. */
function isOpen(path: SchemaPath, caller: Omit<Caller, "organizationId">): boolean {
  if (path.length === 1 || MADE_FOR_THE_CALLER.includes(nameOf(path))) return true;
  const type = contentOf(getNamedType(path.at(-1)!.field.type)).name;
  const operation = AS_THE_OPERATION[type];
  const names = operation === undefined ? (readAt.get(type) ?? []) : [operation];
  const open = names.filter((name) => allows(AUTHORIZATION[name]!, caller));
  // Every mutation of a record returns it completely; some queries show only parts of it.
  return CHANGES.has(names[0] ?? "") ? open.length > 0 : open.length === names.length;
}

const kindOf = (root: GraphQLObjectType) => root.name.toLowerCase() as Operation["kind"];

interface OperationPath {
  readonly kind: Operation["kind"];
  readonly path: SchemaPath;
}

/** Templates have no conversations. */
const EMPTY = /^assistantTemplates\.data\.logs?\./;

/** Every path that a caller may start, up to the first step that the rules of the root fields refuse. */
const pathsFor = (caller: Omit<Caller, "organizationId">): OperationPath[] =>
  roots.flatMap((root) =>
    Object.keys(root.getFields())
      .filter((name) => allows(AUTHORIZATION[name]!, caller) && !BY_RECORD.includes(name))
      .flatMap((name) => pathsBelow(schema, root, name, (path) => isOpen(path, caller)))
      .filter((path) => !EMPTY.test(nameOf(path)))
      .map((path) => ({ kind: kindOf(root), path })),
  );

/** One path for each last step: preferably of a query, and the shortest. */
function oneForEachStep(paths: readonly OperationPath[]): OperationPath[] {
  const kinds = ["query", "subscription", "mutation"];
  const sorted = paths.toSorted(
    (a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || a.path.length - b.path.length,
  );
  const byStep = new Map<string, OperationPath>();
  for (const one of sorted.reverse()) {
    const { on, field } = one.path.at(-1)!;
    byStep.set(`${on}.${field.name}`, one);
  }
  return [...byStep.values()].filter(({ path }) => path.length > 1);
}

const FORBIDDEN = "FORBIDDEN";
const nameOfStep = ({ field }: SchemaPath[number]) => field.name;
const refusedAt = (outcome: Awaited<ReturnType<typeof run>>) => ({
  code: outcome.code,
  path: (outcome.error as { path?: (string | number)[] } | undefined)?.path?.filter(
    (step) => typeof step === "string",
  ),
});

describe.each(Object.keys(CALLERS).filter((name) => CALLERS[name]!.kind !== "ANONYMOUS"))("%s", (name) => {
  const caller = CALLERS[name]!;
  const paths = pathsFor(caller);
  const example = ({ kind, path }: OperationPath) =>
    [operationOf(kind, path, world), variables[path[0]!.field.name]!(world)] as const;

  test("reads through nested fields what it may read at the root", async () => {
    const open = oneForEachStep(paths.filter(({ path }) => isOpen(path, caller)));
    for (const one of open) {
      const outcome = await run(credentials[name]!, ...example(one));
      expect([nameOf(one.path), outcome.code]).not.toEqual([nameOf(one.path), FORBIDDEN]);
    }
  });

  test("reads nothing through nested fields that it may not read at the root", async () => {
    for (const one of paths.filter(({ path }) => !isOpen(path, caller))) {
      const outcome = await run(credentials[name]!, ...example(one));
      expect([nameOf(one.path), refusedAt(outcome)]).toEqual([
        nameOf(one.path),
        // A mutation is refused as a whole, before it changes anything.
        { code: FORBIDDEN, path: one.path.slice(0, one.kind === "mutation" ? 1 : undefined).map(nameOfStep) },
      ]);
    }
  });
});

test("a token with userId is refused on some fields, which proves that the search finds them", () => {
  const caller = CALLERS["a token with userId"]!;
  const closed = pathsFor(caller).filter(({ path }) => !isOpen(path, caller));
  expect(closed.map(({ path }) => nameOf(path))).toEqual(
    expect.arrayContaining(["assistant.project", "assistant.chats", "assistant.files"]),
  );
});

test("the anonymous caller of the settings paths reads nothing more with either engine", async () => {
  const { database } = running.app;
  const { id: organizationId } = await running.api.get("/rest/v1/organization", 200);
  const caller = { organizationId, kind: "ANONYMOUS" } as const;
  const closed = pathsFor(caller).filter(({ path }) => !isOpen(path, caller));
  expect(closed.length).toBeGreaterThan(0);
  for (const { kind, path } of closed)
    for (const compile of [engine.compile.bind(engine), engine.plain.bind(engine)]) {
      const document = parse(operationOf(kind, path, world).text);
      const work = database.scope(organizationId).transaction(async (scope) => {
        const context = makeContext(database, caller, { requestId: "nested", scope });
        const { errors } = await compile(document)(context, variables[path[0]!.field.name]!(world));
        expect([nameOf(path), errors?.map(({ originalError }) => originalError)]).toEqual([
          nameOf(path),
          expect.arrayContaining([expect.objectContaining({ code: FORBIDDEN })]),
        ]);
        throw new Error("undo");
      });
      await expect(work).rejects.toThrow("undo");
    }
});

test("fields with a directive, which run in the other engine, are refused too", async () => {
  const query = `query ($id: ID!) { assistant(id: $id) { project @include(if: true) { webhookDestinations { secret } } } }`;
  const { data, errors } = (
    await credentials["a token with userId"]!.graphql(query, { id: world.assistantId })
  ).body;
  expect(data).toEqual({ assistant: { project: null } });
  expect(errors).toEqual([expect.objectContaining({ path: ["assistant", "project"] })]);
  expect(errors[0].extensions).toEqual({ code: FORBIDDEN, requestId: expect.any(String) });
});
