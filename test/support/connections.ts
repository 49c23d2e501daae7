import { getNamedType, isObjectType } from "graphql";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { compileInterfaces } from "../../src/start/app";

/** The root fields that lead to the connections of types. Variables: `assistantId`, `destinationId`. */
export const CONNECTION_PARENTS: Readonly<Record<string, string>> = {
  Assistant: "assistant(id: $assistantId)",
  EndUser: 'endUser(uniqueId: "ada")',
  WebhookDestination: "webhookDestination(id: $destinationId)",
};

/** A connection of the schema. */
interface ConnectionField {
  readonly type: string;
  readonly field: string;
  /** A query of some fields, with all arguments of connections as variables. */
  readonly document: (fields: string) => string;
  /** The connection in the data of such a query. */
  readonly pageIn: (data: Record<string, unknown>) => unknown;
}

/** The connections of the schema, by type and field. */
export function connectionsOf(): Readonly<Record<string, ConnectionField>> {
  const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
  const isConnection = (name: string) => {
    const type = schema.getType(name);
    return isObjectType(type) && "pageInfo" in type.getFields();
  };
  const found = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .flatMap((type) =>
      Object.values(type.getFields())
        .filter((field) => isConnection(getNamedType(field.type).name))
        .map(({ name }) => connectionField(type.name, name)),
    );
  return Object.fromEntries(found.map((one) => [`${one.type}.${one.field}`, one]));
}

function connectionField(type: string, field: string): ConnectionField {
  const document = (fields: string) => {
    const args = "first: $first, after: $after, last: $last, before: $before, orderBy: $orderBy";
    const part = `${field}(${args}) { ${fields} }`;
    const whole = type === "Query" ? part : `${CONNECTION_PARENTS[type]} { ${part} }`;
    const named = ["assistantId", "destinationId"].filter((name) => whole.includes(`$${name}`));
    const declared = named.map((name) => `, $${name}: ID!`).join("");
    return `query ($first: Int, $after: String, $last: Int, $before: String, $orderBy: ListOrder${declared}) { ${whole} }`;
  };
  const pageIn = (data: Record<string, unknown>) =>
    type === "Query" ? data[field] : (Object.values(data)[0] as Record<string, unknown>)[field];
  return { type, field, document, pageIn };
}
