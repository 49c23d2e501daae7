import { EVENT_CONTRACTS, type EventContract } from "../events/schemas/payloads";
import type { Schema } from "../events/schemas/schema-type";
import { markdownTable } from "./markdown-table";

/** The sections of docs/events.md: each event with an example and the fields of its data. */
export const eventSections = (): string => EVENT_CONTRACTS.map(sectionOf).join("\n\n");

const sectionOf = ({ name, version, description, schema, example }: EventContract): string =>
  [
    `## ${name}`,
    description,
    `\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``,
    markdownTable(["Field of `data`", "Type", "Content"], fieldsOf(schema.properties.data!)),
    `JSON Schema: \`/events/schemas/${name}/${version}\`.`,
  ].join("\n\n");

/** A row for each field, those of the objects in a list included. */
const fieldsOf = ({ properties = {}, required = [] }: Schema, prefix = ""): string[][] =>
  Object.entries(properties).flatMap(([name, schema]) => [
    [
      `\`${prefix}${name}\`${required.includes(name) ? "" : ", optional"}`,
      typeOf(schema),
      schema.description ?? "",
    ],
    ...(schema.items ? fieldsOf(schema.items, `${name}[].`) : []),
  ]);

const typeOf = ({ type, format, enum: values }: Schema): string =>
  values?.map((value) => `\`${value}\``).join(", ") ?? format ?? type;
