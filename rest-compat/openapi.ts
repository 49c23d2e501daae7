import { getNamedType, type GraphQLSchema } from "graphql";
import type { CompiledRoute, Operation } from "./compile";
import { EXAMPLE_URL, exampleOf, exampleOfBody } from "./examples";
import { Components, exampleFor, leaf, type JsonSchema } from "./json-schema";
import { introduction } from "./introduction";
import { headersOf, HEADERS } from "./openapi-headers";
import { codesOf, ERROR, failure, failuresOf, headTooLong } from "./openapi-errors";
import { sharedHeaders, webhooksOf, type WebhookEvent } from "./openapi-webhooks";
import { parametersOf } from "./openapi-parameters";
import { readOnlyNotes } from "./read-only";
import type { Auth } from "./route";

const SECURITY: Readonly<Record<Auth, readonly Readonly<Record<string, readonly string[]>>[]>> = {
  key: [{ apiKey: [] }],
  keyOrBearer: [{ apiKey: [] }, { bearer: [] }],
  public: [{ publicKey: [] }, { publicToken: [] }, { apiKey: [] }, { bearer: [] }],
  settings: [{ apiKey: [] }, { bearer: [] }, {}],
  none: [{}],
};

/** In the order of the dialog under Authorize: what a newcomer has comes first. */
const SECURITY_SCHEMES: JsonSchema = {
  apiKey: {
    type: "apiKey",
    in: "header",
    name: "X-API-Key",
    description: "A SECRET key of the organization; the service prints one on its first start.",
  },
  bearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "A token from POST /rest/v1/organization/token.",
  },
  publicKey: {
    type: "apiKey",
    in: "header",
    name: "X-Public-Key",
    description: "A PUBLIC key, which web pages may contain.",
  },
  publicToken: {
    type: "apiKey",
    in: "header",
    name: "X-Public-Token",
    description: "A token from POST /rest/v1/organization/token, without `Bearer`.",
  },
};

/** The document, as JSON, with the address of the server that shows it instead of the one in examples. */
export const atAddress = (json: string, url: string): string => json.replaceAll(EXAMPLE_URL, url);

/** Generates the OpenAPI 3.1 document of the routes, and of the events that webhook destinations receive. */
export function openApi(
  routes: readonly CompiledRoute[],
  schema: GraphQLSchema,
  events: readonly WebhookEvent[],
): JsonSchema {
  const components = new Components(schema);
  components.add("Error", ERROR);
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    (paths[path] ??= {})[route.method] = operationOf(route, schema, components);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Parley REST API",
      version: "1.0",
      summary: "Assistants that talk to people by voice, text chat and SMS.",
      description: introduction(codesOf(routes, schema)),
      license: { name: "MIT", identifier: "MIT" },
    },
    externalDocs: { url: "/docs", description: "Documentation: first steps, guides and reference" },
    servers: [{ url: "/" }],
    tags: [...new Set(routes.map(({ group }) => group))].map((name) => ({ name })),
    paths,
    webhooks: webhooksOf(events, components),
    components: {
      schemas: components.schemas,
      parameters: sharedHeaders(events),
      headers: HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

function operationOf(route: CompiledRoute, schema: GraphQLSchema, components: Components): JsonSchema {
  const { id, group, method, summary, notes, auth, operation, success, tagged } = route;
  const responses: Record<string, JsonSchema> = {};
  if (operation) responses[success] = successOf(route, operation, components);
  if (route.stream) responses[success] = streamOf(route);
  if (tagged && method === "get") responses[304] = { description: UNCHANGED, ...headersOf(route, 304) };
  const valid =
    operation?.input && exampleFor(components.input(operation.input, route.omit ?? []), components);
  if (responses[success]) responses[success] = { ...responses[success], ...headersOf(route, success) };
  for (const [status, codes] of failuresOf(route, schema))
    responses[status] = { ...failure(route, status, codes, valid), ...headersOf(route, status, codes) };
  responses[431] = headTooLong();
  return {
    operationId: id,
    summary,
    tags: [group],
    ...(route.extension && { "x-extension": true }),
    security: SECURITY[auth],
    ...(operation && { description: descriptionOf(operation, notes) }),
    ...parametersOf(route),
    ...(operation && bodyOf(route, operation, components)),
    ...(route.stream && streamBodyOf(route)),
    responses,
  };
}

const UNCHANGED = "The record is the same as that with the ETag in If-None-Match.";

const descriptionOf = ({ name, output, readOnly }: Operation, notes: string | undefined): string =>
  [
    `GraphQL operation \`${name}\`.`,
    ...readOnlyNotes(getNamedType(output).name, [...readOnly.keys()]),
    ...(notes ? [notes] : []),
  ].join(" ");

/** Content without a schema, illustrated by an example. */
const anything = (example: unknown): JsonSchema => ({ schema: {}, example });

const streamBodyOf = ({ takes, body }: CompiledRoute) => {
  const type = body === "form" ? "application/x-www-form-urlencoded" : "application/json";
  return { requestBody: { required: body === "form", content: { [type]: anything(takes) } } };
};

const streamOf = ({ answers = {} }: CompiledRoute): JsonSchema => ({
  description: "Accepted, whatever the body contains.",
  content: Object.fromEntries(Object.entries(answers).map(([type, example]) => [type, anything(example)])),
});

function successOf(
  { nullable, components: names }: CompiledRoute,
  { output, selection }: Operation,
  components: Components,
): JsonSchema {
  const schema = components.output(output, selection, { nullable, components: names });
  const example = selection && exampleFor(schema, components);
  return {
    description: "The result.",
    content: { "application/json": { schema, example: example ?? exampleOf("", getNamedType(output).name) } },
  };
}

/** The fields of a form; fields other than the file are JSON. */
function formOf({ variables }: Operation): JsonSchema {
  const fields = variables.filter(({ from }) => from === "form");
  const properties = fields.map(({ name, type, argument: { description } }) => {
    const example = exampleOf("", name);
    return [
      name,
      {
        ...leaf(type),
        ...(description && { description }),
        ...(example !== undefined && { examples: [example] }),
      },
    ] as const;
  });
  const schema = { type: "object", properties: Object.fromEntries(properties), required: ["file"] };
  const encoding = { metadata: { contentType: "application/json" } };
  return { required: true, content: { "multipart/form-data": { schema, encoding } } };
}

function bodyOf(
  { id, body, omit = [] }: CompiledRoute,
  operation: Operation,
  components: Components,
): { requestBody?: JsonSchema } {
  const { input } = operation;
  if (body === "multipart") return { requestBody: formOf(operation) };
  if (!input) return {};
  const schema = components.input(input, omit);
  const required = Object.values(input.getFields()).some(
    (field) => String(field.type).endsWith("!") && field.defaultValue === undefined,
  );
  return {
    requestBody: {
      required,
      content: {
        "application/json": { schema, example: exampleOfBody(id) ?? exampleFor(schema, components) },
      },
    },
  };
}

/** The routes as a Markdown table. */
export function routesTable(routes: readonly CompiledRoute[]): string {
  const CREDENTIAL: Readonly<Record<Auth, string>> = {
    key: "key",
    keyOrBearer: "key or bearer",
    public: "public key, public token, key or bearer",
    settings: "none, key or bearer",
    none: "none",
  };
  const lines = routes.map(
    ({ method, path, auth, success, operation, stream, summary }) =>
      `| ${method.toUpperCase()} | \`${path.replace(/:(\w+)/g, "{$1}")}\` | ${CREDENTIAL[auth]} | ${operation || stream ? success : 501} | ${operation ? `\`${operation.name}\`` : stream ? "none" : "not yet"} | ${summary} |`,
  );
  return [
    "# REST paths",
    "",
    "<!-- Generated from rest-compat/routes/ by npm run docs. -->",
    "",
    "Each path maps to a GraphQL operation.",
    "",
    "| Method | Path | Credential | Status | GraphQL operation | Description |",
    "| --- | --- | --- | --- | --- | --- |",
    ...lines,
    "",
  ].join("\n");
}
