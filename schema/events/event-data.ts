import { createUnionType, Field, FieldResolver, Int, ObjectType, Resolver } from "type-graphql";
import { EVENT_SCHEMAS } from "../../src/events/schemas/event-schemas";
import type { ObjectSchema, Schema } from "../../src/events/schemas/schema-type";
import { Root } from "../core/decorators";
import { DateTime, JSONObject } from "../core/scalars";
import { Event } from "./events";

type ObjectClass = new () => object;

const upperFirst = (text: string): string => text[0]!.toUpperCase() + text.slice(1);
const typeNameOf = (event: string): string => `${event.split("-").map(upperFirst).join("")}Data`;

function typeOf(schema: Schema): unknown {
  if (schema.type === "array") return [typeOf(schema.items!)];
  if (schema.properties) return objectTypeOf(schema.title!, schema.description, schema as ObjectSchema);
  if (schema.type === "object") return JSONObject;
  if (schema.type === "integer") return Int;
  if (schema.type === "boolean") return Boolean;
  return schema.format === "date-time" ? DateTime : String;
}

const described = ({ description, enum: values }: Schema): string =>
  values && !description!.includes("`")
    ? `${description!.replace(/\.$/, "")}: ${values.join(", ")}.`
    : description!;

const objectTypes = new Map<string, ObjectClass>();

/** The fields are nullable, so that fragments on several types can ask for fields of the same name. */
function objectTypeOf(
  name: string,
  description: string | undefined,
  { properties }: ObjectSchema,
): ObjectClass {
  const known = objectTypes.get(name);
  if (known) return known;
  const type = { [name]: class {} }[name]!;
  ObjectType(name, { description, simpleResolvers: true })(type);
  for (const [field, schema] of Object.entries(properties)) {
    const value = typeOf(schema);
    Field(() => value as never, { nullable: true, description: described(schema) })(
      type.prototype as object,
      field,
    );
  }
  objectTypes.set(name, type);
  return type;
}

const DATA_TYPES = Object.entries(EVENT_SCHEMAS).map(([event, { data }]) =>
  objectTypeOf(typeNameOf(event), `Content of the event \`${event}\`.`, data),
);

const EventData = createUnionType({
  name: "EventData",
  description: "Content of an event, one type for each event.",
  types: () => DATA_TYPES,
});

@Resolver(() => Event)
export class EventDataResolver {
  // The checked decorator cannot type a union of generated types.
  @FieldResolver(() => EventData, {
    nullable: true,
    description:
      "Content of the event, with typed fields: the same as `data` in the payload. A field that the event leaves out is null. Null for an event that only a newer version of the server knows.",
  })
  data(@Root() { name, payload }: Event): object | null {
    return name in EVENT_SCHEMAS ? { ...(payload.data as object), __typename: typeNameOf(name) } : null;
  }
}
