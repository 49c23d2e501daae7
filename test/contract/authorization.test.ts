import { beforeAll, describe, expect, test } from "@jest/globals";
import { Kind } from "graphql";
import { routes } from "../../rest-compat/routes/index";
import { PERMISSION_OF } from "../../schema/core/access";
import { AUTHORIZATION } from "../../schema/core/authorization";
import { compileInterfaces } from "../../src/start/app";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { withoutId } from "../support/errors";
import { exampleOf, send } from "../support/examples";
import { operationsOf, run, variables } from "../support/operations";
import { buildWorld, namedBy, portrait, unknownWorld, worlds, type World } from "../support/world";

const running = useApp({ OPEN_SETTINGS: "true" });
const { schema, rows } = compileInterfaces(loadCatalog(), readConfig({}));
const operations = operationsOf(schema);

/** Shared by reads. Operations that change something get their own world. */
let world: World;
const another = worlds(() => running.api);
let stranger: { api: Api; world: World };
/** All data of the other organization, which no request here may change. */
let untouched: unknown;
let token: string;
let userToken: string;
/** The token in the link to the analytics page. */
let analyticsToken: string;

beforeAll(async () => {
  const { api } = await running.otherOrganization();
  stranger = { api, world: await buildWorld(api) };
  untouched = await portrait(stranger.api, stranger.world);
  world = await buildWorld(running.api);
  ({ token } = await running.api.post("/rest/v1/organization/token", {}, 200));
  ({ token: userToken } = await running.api.post("/rest/v1/organization/token", { userId: "ada" }, 200));
  const { analyticUrl } = await running.api.get("/rest/v1/organization", 200);
  analyticsToken = new URL(analyticUrl).hash.replace("#token=", "");
});

/** Operations that need a voice engine with web calls, which is missing here. */
const WITHOUT_ENGINE = { startWidgetCall: "CHANNEL_DISABLED" } as Readonly<Record<string, string>>;

const bearer = (value: string) => running.api.as({ Authorization: `Bearer ${value}` });
const visitor = ({ visitorToken }: World) => bearer(visitorToken!);

test("every operation has a rule and an example in test/support/operations.ts, and vice versa", () => {
  const names = operations.map(({ name }) => name).sort();
  expect(Object.keys(AUTHORIZATION).sort()).toEqual(names);
  expect(Object.keys(variables).sort()).toEqual(names);
});

/** The test above fails for an operation without an example. */
const known = operations.filter(({ name }) => name in variables);

describe.each(known)("$kind $name", (operation) => {
  const rule = AUTHORIZATION[operation.name]!;
  const example = variables[operation.name]!;
  /** Without a credential, no WebSocket opens. */
  const anonymously = operation.kind === "subscription" ? "closed with 4403" : "UNAUTHENTICATED";
  const changes = operation.kind === "mutation";
  const own = async () => example(changes ? await another(example) : world);

  test("refuses a caller without a credential", async () => {
    const outcome = await run(running.api.as({}), operation, example(world));
    expect(outcome.code).toBe(anonymously);
  });

  test(rule === "page" ? "runs for a PUBLIC key" : "refuses a PUBLIC key", async () => {
    const outcome = await run(running.api.as({ "X-API-Key": running.publicKey }), operation, example(world));
    expect(outcome.code).toBe(rule === "page" ? undefined : "FORBIDDEN");
  });

  if (rule === "visitor") {
    test("runs for a visitor's session", async () => {
      const mine = changes ? await another(example, "visitorToken") : world;
      const { code } = await run(visitor(mine), operation, example(mine));
      expect(code).toBe(WITHOUT_ENGINE[operation.name]);
    });

    test("refuses all other callers", async () => {
      for (const api of [running.api, bearer(token), bearer(userToken)])
        expect((await run(api, operation, example(world))).code).toBe("FORBIDDEN");
    });
  } else {
    test("runs for a SECRET key", async () => {
      const { code, error } = await run(running.api, operation, await own());
      expect(code).toBeUndefined();
      expect(error).toBeUndefined();
    });

    test("refuses a visitor's session", async () => {
      const { code } = await run(visitor(world), operation, example(world));
      expect(code).toBe(rule === "key" ? "UNAUTHENTICATED" : "FORBIDDEN");
    });
  }

  if (rule === "key")
    test("refuses any token", async () => {
      for (const value of [token, userToken])
        expect((await run(bearer(value), operation, example(world))).code).toBe("UNAUTHENTICATED");
    });
  else if (rule !== "visitor")
    test("runs for a token of the organization", async () => {
      expect((await run(bearer(token), operation, await own())).error).toBeUndefined();
    });

  if (rule === "analytics" || rule === "transcript")
    test("runs for the token of the analytics page", async () => {
      expect((await run(bearer(analyticsToken), operation, await own())).error).toBeUndefined();
    });
  else
    test("refuses the token of the analytics page", async () => {
      const { code } = await run(bearer(analyticsToken), operation, example(world));
      expect(code).toBe(rule === "key" ? "UNAUTHENTICATED" : "FORBIDDEN");
    });

  if (rule === "organization" || rule === "settings" || rule === "analytics")
    test("refuses a token issued for a user", async () => {
      expect((await run(bearer(userToken), operation, example(world))).code).toBe("FORBIDDEN");
    });
  if (rule === "data" || rule === "page" || rule === "transcript")
    test("runs for a token issued for a user", async () => {
      expect((await run(bearer(userToken), operation, await own())).error).toBeUndefined();
    });

  for (const record of namedBy(example))
    test(`answers for another organization's ${record} exactly as for an unknown one`, async () => {
      const [theirId, noId] = [stranger.world[record], unknownWorld()[record]];
      const api = rule === "visitor" ? visitor(world) : running.api;
      const foreign = await run(api, operation, example({ ...world, [record]: theirId }));
      const unknown = await run(api, operation, example({ ...world, [record]: noId }));
      expect(foreign.code).toMatch(/_NOT_FOUND$/);
      expect(withoutId(foreign, theirId)).toEqual(withoutId(unknown, noId));
      if (changes) expect(await portrait(stranger.api, stranger.world)).toEqual(untouched);
    });
});

/** The operations behind the rows with one kind of credential, and behind their readers. */
const behind = (auth: string) =>
  new Set(
    rows
      .filter((row) => row.auth === auth)
      .flatMap(({ operation, reader }) => [operation ?? [], reader?.operation ?? []].flat())
      .map((operation) => operation.definition.selectionSet.selections[0])
      .map((field) => (field?.kind === Kind.FIELD ? field.name.value : "")),
  );

describe("rules and REST paths agree:", () => {
  test("operations of paths for keys require a key", () => {
    expect([...behind("key")].map((name) => [name, AUTHORIZATION[name]])).toEqual(
      [...behind("key")].map((name) => [name, "key"]),
    );
    expect(behind("key").size).toBeGreaterThan(0);
  });

  test("operations of paths for web pages allow the credentials of web pages", () => {
    expect([...behind("public")].map((name) => [name, AUTHORIZATION[name]])).toEqual([
      ["startWebCall", "page"],
    ]);
    // Before it has a visitor's session, a page may otherwise only start one.
    expect(Object.keys(AUTHORIZATION).filter((name) => AUTHORIZATION[name] === "page")).toEqual([
      "startWidgetSession",
      "startWebCall",
    ]);
  });

  test("only operations of the settings paths allow anonymous callers", () => {
    const settings = Object.keys(AUTHORIZATION).filter((name) => AUTHORIZATION[name] === "settings");
    expect(settings.sort()).toEqual([...behind("settings")].sort());
    expect(routes.filter(({ auth }) => auth === "settings").map(({ path }) => path.slice(0, 17))).toEqual(
      settings.slice(1).map(() => "/rest/v1/settings"), // one more reads a record for If-Match
    );
  });

  test("operations without a path belong to the widget, or require a SECRET key or a token without userId", () => {
    const kinds = ["key", "keyOrBearer", "public", "settings"];
    const paths = new Set(kinds.flatMap((auth) => [...behind(auth)]));
    // REST reads a log through its assistant; this operation also reads logs of deleted assistants.
    // The token of the analytics page may also read the data that the page shows, and renews itself.
    const shown = ["analytics", "logs", "issueAnalyticsToken"];
    const without = Object.keys(AUTHORIZATION).filter(
      (name) => !paths.has(name) && name !== "log" && !/widget/i.test(name),
    );
    // Only the operator makes keys that may import, and no token of one of them may.
    const importing = Object.keys(AUTHORIZATION).filter((name) => PERMISSION_OF[name] === "import");
    // A holder of this secret can sign for any person, so no token may read it.
    const onlyKeys = ["file", "identitySecret", ...importing];
    // They have the rules of the record that they return, which test/contract/nodes.test.ts compares.
    const byRecord = ["node", "nodes"];
    const ruleOf = (name: string) =>
      onlyKeys.includes(name) ? "key" : byRecord.includes(name) ? "data" : "organization";
    expect(without.map((name) => [name, AUTHORIZATION[name]])).toEqual(
      without.map((name) => [name, shown.includes(name) ? "analytics" : ruleOf(name)]),
    );
  });

  test("the token of the analytics page reads only what the page shows, renews itself, and changes nothing", () => {
    const read = known.filter(({ name }) => ["analytics", "transcript"].includes(AUTHORIZATION[name]!));
    expect(read.map(({ kind, name }) => [kind, name]).sort()).toEqual([
      ["mutation", "issueAnalyticsToken"],
      ["query", "analytics"],
      ["query", "log"],
      ["query", "logs"],
    ]);
  });

  test.each(rows.filter(({ auth, operation }) => auth !== "none" && operation))(
    "$method $path refuses the token of the analytics page",
    async (row) => {
      const route = routes.find(({ id }) => id === row.id)!;
      const { status } = await send(bearer(analyticsToken), route, exampleOf(route.id)(world));
      expect(status).toBe(route.auth === "key" ? 401 : 403);
    },
  );
});

test("GraphQL never accepts the anonymous caller of the settings paths", async () => {
  await buildWorld(running.api);
  const anonymous = running.api.as({});
  expect(await anonymous.get("/rest/v1/settings", 201)).not.toEqual([]);
  for (const query of ["{ webhookDestinations { id } }", "mutation { generateWebhookSecret }"]) {
    const { body } = await anonymous.graphql(query);
    expect(Object.values(body.data ?? {})).not.toContainEqual(expect.anything());
    expect(body.errors[0].extensions.code).toBe("UNAUTHENTICATED");
  }
  const { body } = await anonymous.request("GET", "/graphql?query={webhookDestinations{secret}}", undefined, {
    "Apollo-Require-Preflight": "true",
    Accept: "application/json",
  });
  expect(body.errors[0].extensions.code).toBe("UNAUTHENTICATED");
});
