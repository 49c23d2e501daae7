import { EVENT_VERSIONS, type EventName } from "../../platform/database/tables/event-names";
import { deliveryHeaders, type DeliveryHeader } from "./delivery-headers";
import { EVENT_SCHEMAS } from "./event-schemas";
import type { ObjectSchema, TypeOf } from "./schema-type";

/** The `data` of an event. */
export type EventData<N extends EventName = EventName> = TypeOf<(typeof EVENT_SCHEMAS)[N]["data"]>;

/** The body that destinations receive. */
export type EventPayload<N extends EventName = EventName> = {
  readonly [Name in N]: {
    readonly event: Name;
    readonly type: "VOICE" | "TEXT" | "SMS";
    readonly companionId: string;
    readonly data: EventData<Name>;
  };
}[N];

/** The `companionId` of samples and of tests of a destination. */
export const TEST_COMPANION_ID = "test";

/** An event with the schema of its payload, and an example of one. */
export interface EventContract {
  readonly name: EventName;
  readonly version: number;
  /** In Markdown. */
  readonly description: string;
  readonly schema: ObjectSchema;
  readonly example: EventPayload;
  readonly headers: readonly DeliveryHeader[];
}

const contractOf = (name: EventName): EventContract => {
  const { description, data, example } = EVENT_SCHEMAS[name];
  const schema = {
    type: "object",
    description,
    required: ["event", "type", "companionId", "data"],
    properties: {
      event: { type: "string", enum: [name], description: "Name of the event." },
      type: { type: "string", enum: ["VOICE", "TEXT", "SMS"], description: "Channel of the conversation." },
      companionId: {
        type: "string",
        description: `Id of the assistant; \`${TEST_COMPANION_ID}\` in samples and tests of a destination.`,
      },
      data: { description: "Content of the event.", ...data },
    },
  } as const;
  // The name and its example belong together, which the type of a union cannot say.
  const payload = { event: name, ...example } as EventPayload;
  const version = EVENT_VERSIONS[name];
  return { name, version, description, schema, example: payload, headers: deliveryHeaders(name, version) };
};

/** All events, in the order in which a conversation has them. */
export const EVENT_CONTRACTS: readonly EventContract[] = (Object.keys(EVENT_SCHEMAS) as EventName[]).map(
  contractOf,
);

/** The JSON Schema of a payload as a document of its own, for a server at `url`. @returns undefined if no event has this name and version */
export function schemaDocument(name: string, version: string, url: string): object | undefined {
  const found = EVENT_CONTRACTS.find((event) => event.name === name && String(event.version) === version);
  if (!found) return undefined;
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `${url}/events/schemas/${name}/${version}`,
    title: `${name}/${version}`,
    ...found.schema,
    examples: [found.example],
  };
}
