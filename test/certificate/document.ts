import {
  getNamedType,
  isLeafType,
  isListType,
  isNonNullType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
} from "graphql";
import type { Call } from "../support/examples";
import type { JsonObject, OpenApi } from "../support/openapi";
import { RENAMED, type Counterpart } from "./counterparts";

/** A request to GraphQL for the same as a REST call. */
export interface Asked {
  readonly query: string;
  readonly variables: Record<string, unknown>;
  /** Names of the fields around the result. */
  readonly path: readonly string[];
}

type Field = GraphQLField<unknown, unknown>;

/** Composes documents from the schema and the responses of the OpenAPI document, without the documents of the rows. */
export class Documents {
  constructor(
    readonly schema: GraphQLSchema,
    readonly openApi: OpenApi,
  ) {}

  /** The request that does the same as a call of the row. */
  of({ levels, below = {} }: Counterpart, call: Call, response: JsonObject): Asked {
    const given: Record<string, unknown> = {
      ...call.query,
      ...call.params,
      body: call.body ?? {},
      ...(call.form && { file: null, metadata: call.form.metadata }),
    };
    const declared: string[] = [];
    const variables: Record<string, unknown> = {};
    const used = new Set<string>(["body", ...Object.keys(call.params ?? {})]);
    /** The arguments of a field, with a variable for each, named as in REST. */
    const filled = (field: Field, sources: Readonly<Record<string, string>>): string => {
      const set = Object.entries(sources).flatMap(([name, source]) => {
        if (given[source] === undefined) return [];
        const { type } = field.args.find((it) => it.name === name)!;
        const variable = source === "body" ? name : source;
        declared.push(`$${variable}: ${String(type)}`);
        variables[variable] = typed(given[source], type, source in (call.query ?? {}));
        return [`${name}: $${variable}`];
      });
      return set.length > 0 ? `(${set.join(", ")})` : "";
    };
    let type: GraphQLObjectType | undefined;
    const steps = levels.map(([name, args], depth) => {
      const field = type ? type.getFields()[name]! : this.root(name).field;
      const last = depth === levels.length - 1;
      const sources = { ...args };
      for (const source of Object.values(args)) used.add(source);
      // Parameters beyond the documented ones have the name of the argument.
      if (last)
        for (const source of Object.keys(call.query ?? {}))
          if (!used.has(source) && field.args.some((arg) => arg.name === source)) sources[source] = source;
      const text = name + filled(field, sources);
      type = getNamedType(field.type) as GraphQLObjectType;
      return { field, text };
    });
    const selection = this.selection(steps.at(-1)!.field.type, response, (field) =>
      below[field.name] ? filled(field, below[field.name]!) : "",
    );
    const inner = steps.reduceRight((below, { text }) => `{ ${text} ${below} }`, selection);
    const heading = declared.length > 0 ? ` (${declared.join(", ")})` : "";
    const path = levels.map(([name]) => name);
    return { query: `${this.root(path[0]!).kind}${heading} ${inner}`, variables, path };
  }

  /** A query or mutation by name. */
  root(name: string): { kind: "query" | "mutation"; field: Field } {
    const query = this.schema.getQueryType()!.getFields()[name];
    if (query) return { kind: "query", field: query };
    const mutation = this.schema.getMutationType()!.getFields()[name];
    if (!mutation) throw new Error(`The schema has no operation ${name}.`);
    return { kind: "mutation", field: mutation };
  }

  /** The fields of a type that the response documents. */
  private selection(
    type: GraphQLOutputType,
    response: JsonObject,
    filled: (field: Field) => string = () => "",
  ): string {
    const named = getNamedType(type);
    if (isLeafType(named)) return "";
    const fields = (named as GraphQLObjectType).getFields();
    const chosen = Object.entries(this.propertiesOf(response)).map(([key, property]) => {
      const name = RENAMED[named.name]?.[key] ?? key;
      const field = fields[name];
      if (!field) throw new Error(`REST answers ${key}, which the type ${named.name} does not have.`);
      return `${name === key ? "" : `${key}: `}${name}${filled(field)} ${this.selection(field.type, property)}`;
    });
    return `{ ${chosen.join(" ")} }`;
  }

  /** The body that REST must answer for a value of GraphQL: what is null is left out where REST documents no null. */
  expected(value: unknown, response: JsonObject): unknown {
    const schema = this.resolve(response);
    if (Array.isArray(value))
      return value.map((item) => this.expected(item, (schema.items ?? {}) as JsonObject));
    if (typeof value !== "object" || value === null || !schema.properties) return value;
    const entries = Object.entries(this.propertiesOf(schema)).flatMap(([key, property]) => {
      const part = (value as JsonObject)[key];
      const keepsNull = [this.resolve(property).type].flat().includes("null");
      return part == null && !keepsNull ? [] : [[key, this.expected(part ?? null, property)]];
    });
    return Object.fromEntries(entries);
  }

  private resolve(schema: JsonObject): JsonObject {
    if (typeof schema.$ref !== "string") return schema;
    return this.openApi.document.components.schemas[schema.$ref.split("/").pop()!]!;
  }

  /** Schemas of the properties of a response, or of the items of its list. */
  propertiesOf(response: JsonObject): Readonly<Record<string, JsonObject>> {
    const schema = this.resolve(response);
    if (schema.items) return this.propertiesOf(schema.items as JsonObject);
    return (schema.properties ?? {}) as Readonly<Record<string, JsonObject>>;
  }
}

/** A parameter of a query string as JSON, if it is a value of the argument's type. */
function typed(value: unknown, type: GraphQLInputType, inQuery: boolean): unknown {
  if (!inQuery || typeof value !== "string") return value;
  const bare = isNonNullType(type) ? type.ofType : type;
  if (isListType(bare)) return [value];
  const name = getNamedType(type).name;
  if (name === "Boolean" && ["true", "false"].includes(value)) return value === "true";
  if (name === "Int" && /^-?\d+$/.test(value)) return Number(value);
  return value;
}
