import { routes } from "../../rest-compat/routes/index";
import { AUTHORIZATION } from "../../schema/core/authorization";
import { faces } from "../../src/start/app";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import type { Api } from "./api";
import { exampleOf, pathOf, send } from "./examples";
import { operationsOf, run, variables } from "./operations";
import { namedBy, type RecordId, type World } from "./world";

/** What a suite sends its attacks and faults to: a REST route or a GraphQL operation. */
export interface Target {
  /** `POST /rest/v1/assistants` or `mutation createAssistant`. */
  readonly title: string;
  readonly face: "REST" | "GraphQL";
  /** The id of the route, or the name of the operation. */
  readonly name: string;
  /** Whether it changes something. */
  readonly changes: boolean;
  /** Who stands behind a valid request. */
  readonly caller: "key" | "visitor" | "provider";
  /** The records that a valid request names. */
  readonly records: readonly RecordId[];
  readonly method: string;
  /** Where a request goes that is not valid. */
  path(world: World): string;
  /** What a valid request came to: the code of its error, if any, and the status where the face has one. */
  ask(api: Api, world: World): Promise<Asked>;
}

export interface Asked {
  readonly code: string | undefined;
  readonly status?: number;
  readonly retryAfter?: string | null;
}

const { schema } = faces(loadCatalog(), readConfig({}));

const ofRest: readonly Target[] = routes.map((route) => ({
  title: `${route.method.toUpperCase()} ${route.path}`,
  face: "REST",
  name: route.id,
  changes: route.method !== "get",
  caller: route.stream === undefined ? "key" : "provider",
  records: namedBy(exampleOf(route.id)),
  method: route.method.toUpperCase(),
  path: (world) => pathOf(route, exampleOf(route.id)(world)),
  ask: async (api, world) => {
    const { status, headers, body } = await send(api, route, exampleOf(route.id)(world));
    const code = status < 400 ? undefined : ((body as { code?: string } | undefined)?.code ?? String(status));
    return { code, status, retryAfter: headers.get("Retry-After") };
  },
}));

const ofGraphql: readonly Target[] = operationsOf(schema).map((operation) => ({
  title: `${operation.kind} ${operation.name}`,
  face: "GraphQL",
  name: operation.name,
  changes: operation.kind === "mutation",
  caller: AUTHORIZATION[operation.name] === "visitor" ? "visitor" : "key",
  records: namedBy(variablesOf(operation.name)),
  method: "POST",
  path: () => "/graphql",
  ask: async (api, world) => ({ code: (await run(api, operation, variablesOf(operation.name)(world))).code }),
}));

function variablesOf(name: string): (world: World) => Record<string, unknown> {
  const example = variables[name];
  if (!example) throw new Error(`test/support/operations.ts has no example for ${name}`);
  return example;
}

/** The text of an operation, by its name. */
export const textOf = (name: string): string =>
  operationsOf(schema).find((operation) => operation.name === name)!.text;

/** Every REST route and every GraphQL operation. */
export const targets: readonly Target[] = [...ofRest, ...ofGraphql];

/** The client that a valid request of a target comes from. */
export const callerOf = ({ caller }: Target, api: Api, { visitorToken }: World): Api =>
  caller === "visitor" ? api.as({ Authorization: `Bearer ${visitorToken}` }) : api;
