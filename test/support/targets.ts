import { routes } from "../../rest-compat/routes/index";
import { AUTHORIZATION } from "../../schema/core/authorization";
import { compileInterfaces } from "../../src/start/app";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import type { Api } from "./api";
import { exampleOf, pathOf, send } from "./examples";
import { operationsOf, run, variables } from "./operations";
import { namedBy, type RecordId, type World } from "./world";

/** A REST route or GraphQL operation that a suite attacks or tests under faults. */
export interface Target {
  /** `POST /rest/v1/assistants` or `mutation createAssistant`. */
  readonly title: string;
  readonly api: "REST" | "GraphQL";
  /** Id of the route, or name of the operation. */
  readonly name: string;
  /** Whether the operation changes data. */
  readonly changes: boolean;
  /** Kind of caller of a valid request. */
  readonly caller: "key" | "visitor" | "provider";
  /** Records that a valid request names. */
  readonly records: readonly RecordId[];
  readonly method: string;
  /** Path for an invalid request. */
  path(world: World): string;
  /** Sends a valid request. @returns its error code, if any, and the HTTP status of a REST request, with Retry-After */
  ask(api: Api, world: World): Promise<TargetResult>;
}

export interface TargetResult {
  readonly code: string | undefined;
  readonly status?: number;
  readonly retryAfter?: string | null;
}

const { schema } = compileInterfaces(loadCatalog(), readConfig({}));

const ofRest: readonly Target[] = routes.map((route) => ({
  title: `${route.method.toUpperCase()} ${route.path}`,
  api: "REST",
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
  api: "GraphQL",
  name: operation.name,
  changes: operation.kind === "mutation",
  caller: AUTHORIZATION[operation.name] === "visitor" ? "visitor" : "key",
  records: namedBy(variablesOf(operation.name)),
  method: "POST",
  path: () => "/graphql",
  ask: async (api, world) => {
    const { code, error } = await run(api, operation, variablesOf(operation.name)(world));
    const { headers } = Object(error) as { headers?: Readonly<Record<string, string>> }; // none over a WebSocket
    return { code, ...(headers && { retryAfter: headers["retry-after"] ?? null }) };
  },
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
