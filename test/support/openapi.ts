import Ajv2020, { type ValidateFunction } from "ajv/dist/2020";
import addFormats from "ajv-formats";

export type JsonObject = Readonly<Record<string, unknown>>;

export interface MediaType {
  readonly schema: JsonObject;
  readonly example?: unknown;
}
export interface OpenApiOperation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly content: Readonly<Record<string, MediaType>>;
        readonly headers?: Readonly<Record<string, unknown>>;
      }
    >
  >;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema: JsonObject;
  }[];
}
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonObject>> };
}

/** Validates values against an OpenAPI document. Properties that the document does not name are invalid. */
export class OpenApi {
  private readonly ajv = addFormats(
    new Ajv2020({ allErrors: true, allowUnionTypes: true, keywords: ["components", "x-extension"] }),
  );
  private readonly compiled = new Map<string, ValidateFunction>();
  private readonly strict: OpenApiDocument;

  private readonly operations: ReadonlyMap<string, OpenApiOperation & { pointer: readonly string[] }>;

  constructor(readonly document: OpenApiDocument) {
    const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        ...operation,
        pointer: ["paths", path, method],
      })),
    );
    this.operations = new Map(entries.map((operation) => [operation.operationId, operation]));
    this.strict = closed(document) as OpenApiDocument;
  }

  /** An operation by its id, with its position in the document. */
  operation(id: string) {
    const found = this.operations.get(id);
    if (!found) throw new Error(`The OpenAPI document has no operation ${id}`);
    return found;
  }

  /** Problems of an answer; "undocumented" for a status that the operation does not name. */
  answerProblems(id: string, status: number, body: unknown): string[] {
    const { responses, pointer } = this.operation(id);
    if (!responses[status]) return [`the status ${status} is undocumented`];
    return this.problems(
      [...pointer, "responses", `${status}`, "content", "application/json", "schema"],
      body,
    );
  }

  /** The example of an answer. */
  exampleOf(id: string, status: number): unknown {
    return this.operation(id).responses[status]?.content["application/json"]?.example;
  }

  /** The fields of an answer that its example lacks, by path. Objects of any content count as one value. */
  unshown(id: string, status: number, body: unknown): string[] {
    const { schema, example } = this.operation(id).responses[status]!.content["application/json"]!;
    return this.lacking(schema, body, example, "");
  }

  private lacking(schema: JsonObject, value: unknown, example: unknown, path: string): string[] {
    if (typeof schema.$ref === "string")
      return this.lacking(
        this.document.components.schemas[schema.$ref.split("/").pop()!]!,
        value,
        example,
        path,
      );
    if (value !== undefined && example === undefined) return [path];
    if (Array.isArray(value) && schema.items)
      return value.length === 0
        ? []
        : this.lacking(schema.items as JsonObject, value[0], (example as unknown[])[0], `${path}.0`);
    if (!schema.properties || typeof value !== "object" || value === null) return [];
    return Object.entries(schema.properties as Record<string, JsonObject>).flatMap(([name, property]) =>
      this.lacking(property, Object(value)[name], Object(example)[name], `${path}.${name}`),
    );
  }

  /** Problems of a value, according to the schema at a position in the document. */
  problems(pointer: readonly string[], value: unknown): string[] {
    const validate = this.schemaAt(pointer);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }

  private schemaAt(pointer: readonly string[]): ValidateFunction {
    const key = pointer.join(" ");
    const known = this.compiled.get(key);
    if (known) return known;
    const step = (place: unknown, part: string) => Object(place)[part] as unknown;
    const schema = pointer.reduce<unknown>(step, this.strict);
    if (!schema) throw new Error(`The OpenAPI document has no schema at ${key}`);
    // References start at the root, which is this schema here.
    const made = this.ajv.compile({ ...schema, components: this.strict.components });
    this.compiled.set(key, made);
    return made;
  }
}

/** A copy of the document in which no object allows properties that it does not name. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, part]) => [name, closed(part)] as const);
  const object = Object.fromEntries(entries);
  const isSchema = object.type === "object" && "properties" in object && !("additionalProperties" in object);
  return isSchema ? { ...object, additionalProperties: false } : object;
}
