import {
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type GraphQLType,
  type SelectionSetNode,
} from "graphql";
import { itemRule, RECORD_KEY, ruleOf, valuesInRequests, type InputRule } from "../schema/core/rules";
import { responseName } from "./compile";
import { exampleOf } from "./examples";
import { mutationFor } from "./read-only";
import { structureOf } from "./structures";
import { inResponse, inRest } from "./wording";

export type JsonSchema = Readonly<Record<string, unknown>>;

const SCALARS: Readonly<Record<string, JsonSchema>> = {
  ID: { type: "string" },
  String: { type: "string" },
  Boolean: { type: "boolean" },
  Int: { type: "integer", format: "int32" },
  Float: { type: "number" },
};

interface ResponseOptions {
  /** Fields that are `null` if empty, instead of being absent. */
  readonly nullable?: readonly string[] | undefined;
  /** Names of component schemas, by GraphQL type. Default: the name of the type. */
  readonly components?: Readonly<Record<string, string>> | undefined;
  /** Whether objects may have more properties than those selected. */
  readonly isOpen?: boolean;
}

/** The component schemas of the document, by name. */
export class Components {
  readonly schemas: Record<string, JsonSchema> = {};

  constructor(private readonly schema: GraphQLSchema) {}

  /** Adds a schema. @returns a reference to it. @throws Error if a different schema has the name */
  add(name: string, schema: JsonSchema): JsonSchema {
    const known = this.schemas[name];
    if (known && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(
        `Two schemas are called ${name}: give one another name with "components" of its REST route.`,
      );
    this.schemas[name] = schema;
    return { $ref: `#/components/schemas/${name}` };
  }

  /** The schema of a response, for a selection of a type. */
  output(
    type: GraphQLOutputType,
    selection: SelectionSetNode | undefined,
    options: ResponseOptions,
  ): JsonSchema {
    const bare = getNullableType(type);
    if (isListType(bare)) return { type: "array", items: this.output(bare.ofType, selection, options) };
    if (!isObjectType(bare) || !selection) return leaf(bare);
    const { nullable = [], components = {}, isOpen = false } = options;
    const component = components[bare.name] ?? bare.name;
    const properties: Record<string, JsonSchema> = {};
    const required: string[] = [];
    for (const node of selection.selections as readonly FieldNode[]) {
      const field = bare.getFields()[node.name.value]!;
      const name = responseName(node);
      const keepsNull = nullable.includes(name);
      const schema = this.property(bare, field, node, options);
      properties[name] = withDescription(
        keepsNull ? { ...schema, type: [schema.type, "null"] } : schema,
        withMutation(
          keepsNull ? field.description : inResponse(`${bare.name}.${name}`, field.description),
          mutationFor(bare.name, name),
        ),
        component,
        name,
      );
      if (isNonNullType(field.type) || keepsNull) required.push(name);
    }
    return this.add(component, {
      type: "object",
      ...about(bare.description),
      properties,
      ...(required.length > 0 && { required }),
      ...(isOpen && { additionalProperties: true }),
    });
  }

  private property(
    parent: GraphQLObjectType,
    field: GraphQLField<unknown, unknown>,
    node: FieldNode,
    options: ResponseOptions,
  ): JsonSchema {
    const name = responseName(node);
    const { "x-extension": extension } = ruleOf(field);
    // A field of the object's own type, such as Message.reply, is a component of its own.
    const isOwn = getNamedType(field.type) === parent;
    const inner = isOwn ? { ...options, components: { [parent.name]: capitalize(name) } } : options;
    return {
      ...(structureOf(`${parent.name}.${name}`, this, this.schema) ??
        this.output(field.type, node.selectionSet, inner)),
      ...(extension && { "x-extension": extension }),
    };
  }

  /** The schema of a request body. */
  input(type: GraphQLInputType, omit: readonly string[]): JsonSchema {
    const bare = getNullableType(type);
    if (isListType(bare)) return { type: "array", items: this.input(bare.ofType, []) };
    if (isEnumType(bare)) return { ...leaf(bare), enum: valuesInRequests(bare) };
    if (!isInputObjectType(bare)) return leaf(bare);
    const properties: Record<string, JsonSchema> = {};
    const required: string[] = [];
    for (const field of Object.values(bare.getFields())) {
      if (omit.includes(field.name)) continue;
      const { nullable, ...rule } = ruleOf(field);
      const clears = !isNonNullType(field.type) && nullable !== false;
      const schema = withRule(this.input(field.type, []), rule);
      properties[field.name] = withDescription(
        clears ? orNull(schema) : schema,
        inRest(`${bare.name}.${field.name}`, field.description),
        bare.name,
        field.name,
      );
      if (isNonNullType(field.type) && field.defaultValue === undefined) required.push(field.name);
    }
    return this.add(bare.name, {
      type: "object",
      ...about(inRest(bare.name, bare.description)),
      properties,
      ...(required.length > 0 && { required }),
    });
  }
}

/** The schema of an argument of an operation. */
export function argumentSchema(components: Components, argument: GraphQLArgument): JsonSchema {
  const { nullable, ...rule } = ruleOf(argument);
  const schema = withRule(components.input(argument.type, []), rule);
  const { description, defaultValue } = argument;
  const mayBeNull = !isNonNullType(argument.type) && nullable !== false && typeof schema.type === "string";
  return {
    ...(mayBeNull ? orNull(schema) : schema),
    ...about(description),
    ...(defaultValue !== undefined && { default: defaultValue }),
  };
}

/** An example of a schema, built from the examples of its parts. */
export function exampleFor(schema: JsonSchema, components: Components): unknown {
  if (typeof schema.$ref === "string")
    return exampleFor(components.schemas[schema.$ref.split("/").pop()!]!, components);
  if (Array.isArray(schema.examples)) return schema.examples[0] as unknown;
  if (schema.type === "array") return [exampleFor(schema.items as JsonSchema, components)];
  if (schema.properties) {
    const required = (schema.required ?? []) as readonly string[];
    // Skips optional texts, numbers, lists and booleans of extensions without an example.
    const entries = Object.entries(schema.properties as Readonly<Record<string, JsonSchema>>).filter(
      ([name, property]) =>
        property.examples !== undefined ||
        required.includes(name) ||
        !(property["x-extension"] ? /string|integer|array|boolean/ : /string|integer|array/).test(
          String(property.type),
        ),
    );
    return Object.fromEntries(entries.map(([name, property]) => [name, exampleFor(property, components)]));
  }
  return schema.type === "boolean" ? false : schema.type === "object" ? {} : "";
}

export function leaf(type: GraphQLType): JsonSchema {
  const named = getNamedType(type);
  if (isEnumType(named)) return { type: "string", enum: named.getValues().map(({ name }) => name) };
  const scalar = isScalarType(named)
    ? (SCALARS[named.name] ?? (named.extensions.schema as JsonSchema | undefined))
    : undefined;
  return scalar ?? {};
}

/** Adds a rule to a schema; rules about the items of a list go to the schema of its items. */
function withRule(schema: JsonSchema, { format, ...others }: InputRule): JsonSchema {
  // JSON Schema knows no format of keys.
  const known = format === "key" ? { pattern: RECORD_KEY.source } : format && { format };
  const rule = { ...others, ...known };
  if (schema.type !== "array") return { ...schema, ...rule };
  const ofItems = itemRule(rule);
  const ofList = Object.entries(rule).filter(([word]) => !(word in ofItems));
  return { ...schema, ...Object.fromEntries(ofList), items: withRule(schema.items as JsonSchema, ofItems) };
}

const capitalize = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const orNull = (schema: JsonSchema): JsonSchema => ({
  ...schema,
  type: [schema.type, "null"],
  ...(Array.isArray(schema.enum) && { enum: [...(schema.enum as unknown[]), null] }),
});

/** The description of a field, with the mutation that changes it if REST cannot. */
const withMutation = (description: string | null | undefined, mutation: string | undefined) =>
  mutation === undefined
    ? description
    : `${description ?? ""} Read-only on REST: the GraphQL mutation ${mutation} changes it.`.trim();

const about = (description: string | null | undefined) => (description ? { description } : {});

function withDescription(
  schema: JsonSchema,
  description: string | null | undefined,
  type: string,
  field: string,
): JsonSchema {
  const example = exampleOf(type, field);
  const isReference = "$ref" in schema || (schema.type === "array" && "$ref" in (schema.items as object));
  return {
    ...schema,
    ...about(description),
    ...(example !== undefined && !isReference && { examples: [example] }),
  };
}
