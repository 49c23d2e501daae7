import type { CompiledRoute } from "../../rest-compat/compile";
import { exampleOf, type Call } from "../support/examples";
import type { JsonObject, OpenApi } from "../support/openapi";
import { namedBy, unknownWorld, type World } from "../support/world";
import type { Credential } from "./counterparts";

/** One request, which both interfaces get. */
export interface Case {
  readonly title: string;
  readonly call: Call;
  /** Default: a SECRET key. */
  readonly credential?: Credential;
}

const CREDENTIALS: readonly Credential[] = [
  "none",
  "unknown key",
  "PUBLIC key",
  "token",
  "token of a user",
  "visitor's session",
  "analytics token",
];

type Wrong = readonly [what: string, value: unknown];

/** All cases of a row, the valid ones last, because they may remove the record. @param stranger ids of another organization */
export function casesOf(row: CompiledRoute, openApi: OpenApi, world: World, stranger: World): Case[] {
  const example = exampleOf(row.id);
  const call: Call = example(world);
  const unknown = unknownWorld();
  const ids = namedBy(example).flatMap((record) => [
    { title: `unknown ${record}`, call: example({ ...world, [record]: unknown[record] }) },
    { title: `another organization's ${record}`, call: example({ ...world, [record]: stranger[record] }) },
    { title: `${record} that is no id`, call: example({ ...world, [record]: "no-id" }) },
  ]);
  const credentials = CREDENTIALS.map((credential) => ({
    title: `credential: ${credential}`,
    call: example(unknown),
    credential,
  }));
  const invalid = [...bodies(row.id, openApi, call), ...queries(row.id, openApi, call)];
  return [...credentials, ...ids, ...invalid, ...valid(call)];
}

/** The example as it is, with its required parts only, and repeated. */
function valid(call: Call): Case[] {
  const { query: _, ...bare } = call;
  return [
    ...(call.query ? [{ title: "valid, without parameters", call: bare }] : []),
    ...(call.query?.take ? pages(call) : []),
    { title: "valid", call },
    { title: "valid, repeated", call },
  ];
}

const pages = (call: Call): Case[] =>
  ["asc", "desc"].flatMap((order) =>
    ["1", "2"].map((page) => ({
      title: `valid, order ${order}, page ${page} of 2`,
      call: { ...call, query: { order, page, take: "2" } },
    })),
  );

function bodies(id: string, openApi: OpenApi, call: Call): Case[] {
  const content = openApi.operation(id).requestBody?.content["application/json"];
  if (!content || !call.body) return [];
  const schema = resolve(openApi, content.schema);
  const required = (schema.required ?? []) as string[];
  const at = (name: string, what: string, value: unknown) => ({
    title: `body: ${name} ${what}`,
    call: { ...call, body: { ...call.body, [name]: value } },
  });
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonObject>);
  return [
    ...properties.flatMap(([name, property]) =>
      wrong(resolve(openApi, property)).map(([what, value]) => at(name, what, value)),
    ),
    ...required.map((name) => at(name, "missing", undefined)),
  ];
}

function queries(id: string, openApi: OpenApi, call: Call): Case[] {
  const parameters = (openApi.operation(id).parameters ?? []).filter((it) => it.in === "query");
  return parameters.flatMap(({ name, schema }) =>
    wrong(schema)
      .filter(([, value]) => ["string", "number"].includes(typeof value))
      .map(([what, value]) => ({
        title: `query: ${name} ${what}`,
        call: { ...call, query: { ...call.query, [name]: String(value) } },
      })),
  );
}

const resolve = (openApi: OpenApi, schema: JsonObject): JsonObject =>
  typeof schema.$ref === "string"
    ? openApi.document.components.schemas[schema.$ref.split("/").pop()!]!
    : schema;

/** Values that the rules of a schema exclude, or that touch their limits. */
function wrong(schema: JsonObject): Wrong[] {
  const types = [schema.type].flat();
  const bounds: Wrong[] = [];
  if (typeof schema.minLength === "number") bounds.push(["too short", "x".repeat(schema.minLength - 1)]);
  if (typeof schema.maxLength === "number" && schema.maxLength < 10_000)
    bounds.push(["too long", "x".repeat(schema.maxLength + 1)]);
  if (typeof schema.minimum === "number") bounds.push(["too small", schema.minimum - 1]);
  if (typeof schema.maximum === "number") bounds.push(["too large", schema.maximum + 1]);
  if (schema.enum) bounds.push(["unknown", "no-such-value"]);
  if (schema.format === "date-time") bounds.push(["no time", "tomorrow"]);
  if (typeof schema.maxItems === "number" && schema.maxItems <= 100)
    bounds.push(["too many", Array.from({ length: schema.maxItems + 1 }, itemOf(schema))]);
  if (typeof schema.minItems === "number" && schema.minItems > 0) bounds.push(["empty", []]);
  return [...bounds, ...ofType(types), ...(types.includes("null") ? [] : ([["null", null]] as Wrong[]))];
}

function ofType(types: readonly unknown[]): Wrong[] {
  // Not a number, because the ids of GraphQL may be numbers.
  if (types.includes("string")) return [["a boolean", true]];
  if (types.includes("integer"))
    return [
      ["a text", "many"],
      ["a fraction", 1.5],
    ];
  if (types.includes("number")) return [["a text", "many"]];
  if (types.includes("boolean")) return [["a text", "maybe"]];
  if (types.includes("object")) return [["a text", "text"]];
  return [];
}

/** A valid item of a list. */
const itemOf = (schema: JsonObject) => (): unknown => {
  const { type, enum: values } = (schema.items ?? {}) as { type?: string; enum?: readonly unknown[] };
  return values?.[0] ?? (type === "object" ? { name: "f" } : "x");
};
