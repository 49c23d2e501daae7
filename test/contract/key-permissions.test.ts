import { beforeAll, describe, expect, test } from "@jest/globals";
import { routes } from "../../rest-compat/routes/index";
import { accessOf, admit } from "../../schema/core/access";
import { AUTHORIZATION } from "../../schema/core/authorization";
import { compileInterfaces } from "../../src/start/app";
import type { Caller } from "../../src/account/auth/caller";
import { PERMISSIONS, type Permission } from "../../src/account/auth/limits";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { exampleOf, send } from "../support/examples";
import { quietAssistant } from "../support/factories";
import { operationsOf, run, variables, type Operation } from "../support/operations";
import { unknownWorld, worlds } from "../support/world";

const running = useApp();
const { schema, rows } = compileInterfaces(loadCatalog(), readConfig({}));
const operations = operationsOf(schema);
/** Permissions that the interfaces can grant. */
const GIVEN = PERMISSIONS.filter((permission) => permission !== "import");

const KEYS = "/rest/v1/organization/keys";
const newKey = async (permissions: readonly Permission[], type = "SECRET") =>
  (await running.api.post(KEYS, { type, permissions }, 200)).value as string;
const byKey = (value: string) => running.api.as({ "X-API-Key": value });
const bearer = (value: string) => running.api.as({ Authorization: `Bearer ${value}` });

const needed = ({ kind, name }: Operation) => accessOf(name, kind === "mutation").permission;

test("queries need read and mutations need write, except for calls, keys, webhooks and imports", () => {
  const others = operations.filter(
    (operation) => needed(operation) !== (operation.kind === "mutation" ? "write" : "read"),
  );
  const by = (permission: Permission) =>
    others
      .filter((operation) => needed(operation) === permission)
      .map(({ name }) => name)
      .sort();
  expect(by("read")).toEqual(["issueAnalyticsToken"]);
  expect(by("import")).toEqual([
    ...["importAssistant", "importAssistantDraft", "importAssistantVersions", "importDeployment"],
    ...[
      "importEndUserFacts",
      "importFile",
      "importKey",
      "importLogs",
      "importProject",
      "importWebhookDestination",
      "importWorkflow",
    ],
  ]);
  expect({ calls: by("calls"), keys: by("keys"), webhooks: by("webhooks") }).toEqual({
    calls: ["cancelCall", "placeAssistantCall", "placeWorkflowCall", "startWebCall", "startWidgetCall"],
    keys: [
      "createKey",
      "deleteKey",
      "identitySecret",
      "issueToken",
      "key",
      "keys",
      "keysConnection",
      "updateKey",
    ],
    webhooks: [
      "createWebhookDestination",
      "deleteWebhookDestination",
      "delivery",
      "deliveryChanges",
      "generateWebhookSecret",
      "redeliver",
      "replayEvents",
      "sendSampleEvents",
      "testWebhookDestination",
      "updateWebhookDestination",
      "webhookDestination",
      "webhookDestinations",
      "webhookDestinationsConnection",
    ],
  });
});

/** Runs an operation on records that do not exist, because only FORBIDDEN matters. */
const codeOf = async (api: Api, operation: Operation) =>
  (await run(api, operation, variables[operation.name]!(unknownWorld()))).code;

describe.each(GIVEN)("a key with the permission %s", (permission) => {
  let api: Api;
  let token: Api;
  beforeAll(async () => {
    api = byKey(await newKey([permission]));
    const issuing = byKey(await newKey([permission, "keys"]));
    token = bearer((await issuing.post("/rest/v1/organization/token", {}, 200)).token);
  });

  const others = operations.filter(({ name }) => AUTHORIZATION[name] !== "visitor");
  test("runs exactly the operations that need it", async () => {
    for (const operation of others) {
      const code = await codeOf(api, operation);
      const isForbidden = needed(operation) !== permission;
      expect([operation.name, code === "FORBIDDEN"]).toEqual([operation.name, isForbidden]);
    }
  });

  test("issues no token with more permissions than its own", async () => {
    const allowed: readonly unknown[] = [permission, "keys"];
    for (const operation of others.filter(({ name }) => AUTHORIZATION[name] !== "key")) {
      const code = await codeOf(token, operation);
      const isForbidden = !allowed.includes(needed(operation));
      expect([operation.name, code === "FORBIDDEN"]).toEqual([operation.name, isForbidden]);
    }
  });

  test("gets 403 on exactly the REST paths whose operations need another permission", async () => {
    for (const { id, auth, operation } of rows) {
      if (auth === "none" || !operation) continue;
      const route = routes.find((row) => row.id === id)!;
      const caller = auth === "public" ? running.api.as({ "X-Public-Token": await tokenOf() }) : api;
      const { status } = await send(caller, route, exampleOf(id)(unknownWorld()));
      const isForbidden = operation.access.permission !== permission;
      expect([id, status === 403]).toEqual([id, isForbidden]);
    }
  });

  /** A token of the key, for paths of pages, which accept no SECRET key. */
  async function tokenOf(): Promise<string> {
    const issuing = byKey(await newKey([...new Set([permission, "keys" as const])]));
    return (await issuing.post("/rest/v1/organization/token", {}, 200)).token as string;
  }
});

describe("a refusal names the missing permission, those of the key, and a command for all of them:", () => {
  /** Permissions that a key can have without another one. */
  const OWN: readonly (readonly Permission[])[] = [[], ...PERMISSIONS.map((one) => [one]), PERMISSIONS];
  const CASES = PERMISSIONS.flatMap((lacked) =>
    OWN.map((own) => [lacked, own.filter((one) => one !== lacked)] as const),
  );

  /** The permissions that the command in a message gives a key, as its usage says. */
  function givenBy(message: string): string[] {
    const [, options = ""] = /`npm run --silent key:create -- (.+)`\.$/.exec(message) ?? [];
    const [, listed] = /--permissions (\S+)/.exec(options) ?? [];
    const imports = options.includes("--import");
    // Without a list, --import adds to all permissions.
    const others = listed?.split(",") ?? (imports ? [...GIVEN] : []);
    return [...others, ...(imports ? ["import"] : [])];
  }

  test.each(CASES)("%s, for a key with %j", (lacked, own) => {
    const access = { rule: "key", permission: lacked, inAssistants: true } as const;
    const caller = { kind: "SECRET", organizationId: "o", keyId: "k", limits: { permissions: own } };
    let message = "";
    try {
      admit(access, caller as unknown as Caller);
    } catch (error) {
      ({ message } = error as Error);
    }
    expect(message).toContain(`lacks the permission "${lacked}"`);
    expect(message).toContain(own.length === 0 ? "it has no permission." : `it has ${own.join(", ")}.`);
    expect(message.includes("only the command line grants")).toBe(lacked === "import");
    expect(givenBy(message)).toEqual(expect.arrayContaining([...own, lacked]));
  });

  test.each(GIVEN)("%s, over GraphQL and REST", async (lacked) => {
    const own = GIVEN.filter((one) => one !== lacked);
    const api = byKey(await newKey(own));
    const expected = `This key lacks the permission "${lacked}"; it has ${own.join(", ")}. Create a key with all of them by POST /rest/v1/organization/keys, or on the server: \`npm run --silent key:create -- --permissions ${[...own, lacked].join(",")}\`.`;
    const operation = operations.find(
      (one) => one.kind !== "subscription" && needed(one) === lacked && AUTHORIZATION[one.name] !== "visitor",
    )!;
    const { errors } = (await api.graphql(operation.text, variables[operation.name]!(unknownWorld()))).body;
    expect(errors[0].message).toBe(expected);
    const { id } = rows.find((row) => row.auth !== "public" && row.operation?.access.permission === lacked)!;
    const route = routes.find((row) => row.id === id)!;
    expect((await send(api, route, exampleOf(id)(unknownWorld()))).body.message).toBe(expected);
  });

  // Only a key with "keys" creates keys.
  test.each(GIVEN.filter((one) => one !== "keys"))(
    "%s, which a key cannot give to another",
    async (lacked) => {
      const own = GIVEN.filter((one) => one !== lacked);
      const { message } = await byKey(await newKey(own)).post(KEYS, { permissions: [lacked] }, 403);
      expect(message).toBe(
        `A key cannot create a key with wider limits than its own: it lacks the permission "${lacked}".`,
      );
    },
  );

  test("one that does not exist: the error lists those that a request may name", async () => {
    const { details } = await running.api.post(KEYS, { permissions: ["delete"] }, 400);
    expect(details[0]).toEqual({
      path: "permissions.0",
      message: `must be one of ${GIVEN.join(", ")}; got "delete"`,
    });
  });

  test("import, which no interface grants", async () => {
    const { details } = await running.api.post(KEYS, { permissions: ["import"] }, 400);
    expect(details[0].message).toContain("npm run --silent key:create -- --import");
  });
});

describe("permissions of visitors", () => {
  const SESSION = "mutation ($input: WidgetSessionInput!) { startWidgetSession(input: $input) { token } }";
  const visiting = operations.filter(({ name }) => AUTHORIZATION[name] === "visitor");

  test.each<[readonly Permission[]]>([[["write"]], [["write", "read"]], [["write", "calls"]]])(
    "are those of the page's key: %j",
    async (permissions) => {
      const page = byKey(await newKey(permissions, "PUBLIC"));
      const input = { assistantId: await quietAssistant(running.api) };
      const { startWidgetSession } = await page.gql(SESSION, { input });
      const session = bearer(startWidgetSession.token);
      for (const operation of visiting) {
        const isForbidden = !permissions.some((one) => one === needed(operation));
        const code = await codeOf(session, operation);
        expect([operation.name, code === "FORBIDDEN"]).toEqual([operation.name, isForbidden]);
      }
    },
    60_000,
  );

  test("require a session, which a key without write cannot start", async () => {
    const page = byKey(await newKey(["read", "calls"], "PUBLIC"));
    const input = { assistantId: await quietAssistant(running.api) };
    expect((await page.gqlError(SESSION, { input })).extensions.code).toBe("FORBIDDEN");
  });
});

test("every REST path works with a key that has only its permission", async () => {
  const build = worlds(() => running.api);
  const refused: unknown[] = [];
  for (const { id, auth, operation } of rows) {
    const permission = operation?.access.permission;
    // A key neither gives wider limits than its own nor sees keys that have them.
    if (!permission || auth === "none" || auth === "public" || id.endsWith("Key")) continue;
    const route = routes.find((row) => row.id === id)!;
    const call = exampleOf(id)(await build(exampleOf(id)));
    const { status, body } = await send(byKey(await newKey([permission])), route, call);
    if (status >= 300) refused.push([id, permission, status, body?.message as string]);
  }
  expect(refused).toEqual([]);
});

test("a change that is refused for a field of its result leaves nothing changed", async () => {
  const { api } = running;
  const id = await quietAssistant(api);
  const { name } = await api.get(`/rest/v1/assistants/${id}`, 200);
  const writing = byKey(await newKey(["write"]));
  const rename = (selection: string, fragments = "") =>
    `mutation ($id: ID!) { updateAssistant(id: $id, input: { name: "Changed" }) { id ${selection} } } ${fragments}`;
  const REFUSED = [
    ["chats { nodes { id } }", ""],
    ["...Deep", "fragment Deep on Assistant { ... on Assistant { voice { prompt } } }"],
  ] as const;
  for (const [selection, fragments] of REFUSED)
    expect((await writing.gqlError(rename(selection, fragments), { id })).extensions.code).toBe("FORBIDDEN");
  const wrong = await api.gqlError(rename("logs(take: -1) { id }"), { id });
  expect(wrong).toMatchObject({ path: ["updateAssistant"], extensions: { code: "BAD_USER_INPUT" } });
  expect((await api.get(`/rest/v1/assistants/${id}`, 200)).name).toBe(name);
  await writing.gql(rename("voice @include(if: false) { prompt }"), { id });
  expect((await api.get(`/rest/v1/assistants/${id}`, 200)).name).toBe("Changed");
});

test("a nested field needs the permission of the type it leads to, also in the result of a mutation", async () => {
  const { api } = running;
  const id = await quietAssistant(api);
  const writing = byKey(await newKey(["write"]));
  const RENAME = (selection: string) =>
    `mutation ($id: ID!) { updateAssistant(id: $id, input: { name: "Bea" }) { id ${selection} } }`;
  expect(await writing.gql(RENAME("name"), { id })).toEqual({ updateAssistant: { id, name: "Bea" } });
  for (const selection of ["chats { nodes { id } }", "voice { prompt }", "project { id }"])
    expect((await writing.gqlError(RENAME(selection), { id })).extensions.code).toBe("FORBIDDEN");
  const reading = byKey(await newKey(["read"]));
  const { createProject } = await api.gql('mutation { createProject(input: { name: "P" }) { id } }');
  const PROJECT = "query ($id: ID!) { project(id: $id) { name webhookDestinations { secret } } }";
  expect(await reading.gqlError(PROJECT, { id: createProject.id })).toMatchObject({
    path: ["project", "webhookDestinations"],
    extensions: { code: "FORBIDDEN" },
  });
});
