import { GraphQLError, GraphQLScalarType, valueFromASTUntyped } from "graphql";
import { GraphQLDateTimeISO } from "graphql-scalars";
import GraphQLUpload from "graphql-upload/GraphQLUpload.mjs";
import { keepSource, shownJson } from "../../src/platform/json/json-source";
import { jsonProblem } from "../../src/platform/json/storable";
import { jsonOf } from "./literal-source";
import { DATE_TIME_EXPECTED, OBJECT_EXPECTED } from "./rules";

const problemOf = (value: unknown): string | undefined =>
  typeof value !== "object" || value === null || Array.isArray(value) ? OBJECT_EXPECTED : jsonProblem(value);

/** A free-form JSON object, within limits that keep storing and listing it cheap. */
export const JSONObject = new GraphQLScalarType<Record<string, unknown>, unknown>({
  name: "JSONObject",
  specifiedByURL: "https://datatracker.ietf.org/doc/html/rfc8259#section-4",
  description: "A free-form JSON object: at most 32 levels deep, 20,000 keys in total and 1 MiB.",
  serialize: shownJson,
  parseValue: (value) => {
    const problem = problemOf(value);
    if (problem) throw new GraphQLError(problem);
    keepSource(value as object); // problemOf has shown that it is an object
    return value as Record<string, unknown>;
  },
  parseLiteral: (node, variables) => {
    const value = valueFromASTUntyped(node, variables);
    // Checked before JSON.stringify, which writes numbers out of range as null.
    const problem = problemOf(value);
    if (problem) throw new TypeError(problem); // graphql-js adds the position and the value
    const json = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
    keepSource(json, jsonOf(node, variables));
    return json;
  },
  extensions: { schema: { type: "object", additionalProperties: true } },
});

/** A JSON value of any type, in responses only. */
export const JSON_VALUE = new GraphQLScalarType<unknown, unknown>({
  name: "JSON",
  specifiedByURL: "https://datatracker.ietf.org/doc/html/rfc8259",
  description: "A JSON value of any type.",
  serialize: (value) => value,
  extensions: { schema: {} },
});

const dateTime = GraphQLDateTimeISO.toConfig();

/** A time of a column is a Date, one inside stored JSON is text; both are sent in the same form. */
export const DateTime = new GraphQLScalarType<Date | string, string>({
  ...dateTime,
  parseValue: (value) => {
    try {
      return dateTime.parseValue(value);
    } catch {
      throw new GraphQLError(DATE_TIME_EXPECTED);
    }
  },
  parseLiteral: (node, variables) => {
    try {
      return dateTime.parseLiteral(node, variables);
    } catch {
      throw new TypeError(DATE_TIME_EXPECTED); // graphql-js adds the position and the value
    }
  },
  name: "DateTime",
  specifiedByURL: "https://scalars.graphql.org/andimarek/date-time.html",
  description: "An ISO 8601 date-time in UTC, such as 2026-01-31T12:00:00.000Z.",
  extensions: { schema: { type: "string", format: "date-time" } },
});

const upload = GraphQLUpload.toConfig();
/** Files already parsed from variables: when graphql-js interprets a document, it parses them a second time. */
const uploads = new WeakSet<object>();

export const Upload = new GraphQLScalarType({
  ...upload,
  parseValue: (value) => {
    if (typeof value === "object" && value !== null && uploads.has(value)) return value;
    const file = upload.parseValue(value) as object; // a promise of the file
    uploads.add(file);
    return file;
  },
  specifiedByURL: "https://github.com/jaydenseric/graphql-multipart-request-spec",
  description: "A file, uploaded as defined by the GraphQL multipart request specification.",
  extensions: { schema: { type: "string", format: "binary" } },
});
