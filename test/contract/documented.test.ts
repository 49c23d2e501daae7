import { describe, expect, test } from "@jest/globals";
import { generatedDocuments } from "../../src/start/app";
import { routes } from "../../rest-compat/routes/index";
import { OpenApi, type JsonObject, type OpenApiDocument } from "../support/openapi";
import type { Fields } from "../support/shapes";
import { DOCUMENTED, lineOf } from "./documented";

const openApi = new OpenApi(JSON.parse(generatedDocuments()["rest-compat/openapi.json"]!) as OpenApiDocument);

const AUTH = {
  key: "key",
  keyOrBearer: "key or bearer",
  public: "public",
  settings: "settings",
  none: "none",
};
const rows = routes.map(({ id, method, path, auth, success, document }) => ({
  id,
  line: lineOf({ method, path }),
  auth: AUTH[auth],
  status: success,
  served: document !== undefined,
}));
const rowOf = ({ method, path }: { method: string; path: string }) =>
  rows.find(({ line }) => line === `${method} ${path}`);

test("every documented path has a route, and every route is documented", () => {
  const lines = (entries: readonly { line: string; auth: string; status: number }[]) =>
    entries.map(({ line, auth, status }) => `${line} ${status} ${auth}`).sort();
  const documented = DOCUMENTED.map(({ method, path, ...rest }) => ({ ...rest, line: `${method} ${path}` }));
  expect(lines(rows)).toEqual(lines(documented));
});

/** The schema behind references. */
const resolved = (schema: JsonObject): JsonObject =>
  typeof schema.$ref === "string"
    ? openApi.document.components.schemas[schema.$ref.split("/").pop()!]!
    : schema;

/** Type of each property and whether it is required. Extensions of the document are left out: they must be optional. */
function fieldsOf(schema: JsonObject): Map<string, { type: string; required: boolean }> {
  const { properties = {}, required = [] } = resolved(schema) as {
    properties?: Record<string, JsonObject>;
    required?: string[];
  };
  const isExtension = ([name, property]: [string, JsonObject]) => {
    if (property["x-extension"]) expect(required).not.toContain(name);
    return property["x-extension"] === true;
  };
  const documented = Object.entries(properties).filter((entry) => !isExtension(entry));
  return new Map(
    documented.map(([name, property]) => {
      const [type] = [resolved(property).type].flat() as string[];
      return [name, { type: type === "integer" ? "number" : type!, required: required.includes(name) }];
    }),
  );
}

const expected = (fields: Fields) =>
  new Map(
    Object.entries(fields).flatMap(([type, names]) =>
      names
        .split(" ")
        .map((name) => [name.replace("!", ""), { type, required: name.endsWith("!") }] as const),
    ),
  );

/** Fields that the document requires are required; its optional fields may be required too. */
function expectAnswer(schema: JsonObject, fields: Fields): void {
  const found = fieldsOf(schema);
  const wanted = expected(fields);
  const types = (map: typeof found) => Object.fromEntries([...map].map(([name, { type }]) => [name, type]));
  expect(types(found)).toEqual(types(wanted));
  for (const [name, { required }] of wanted)
    if (required) expect([name, found.get(name)?.required]).toEqual([name, true]);
}

const META = {
  number: "page! take! itemCount! pageCount!",
  boolean: "hasPreviousPage! hasNextPage!",
};

const answering = DOCUMENTED.filter((entry) => entry.answers && rowOf(entry)?.served);

describe.each(answering)("$method $path", (entry) => {
  const { answers, takes, status } = entry;
  const operation = openApi.operation(rowOf(entry)!.id);

  test("returns the documented fields; all others are marked `@Extension`", () => {
    const { schema } = operation.responses[status]!.content["application/json"]!;
    if (answers === "string") return expect(schema).toEqual({ type: "string" });
    if ("page" in answers!) {
      const { data, meta } = resolved(schema).properties as Record<string, JsonObject>;
      expectAnswer(schema, { array: "data!", object: "meta!" });
      expectAnswer(meta!, META);
      return expectAnswer(data!.items as JsonObject, answers.page);
    }
    if ("list" in answers!) {
      expect(schema.type).toBe("array");
      return expectAnswer(schema.items as JsonObject, answers.list);
    }
    expectAnswer(schema, answers as Fields);
  });

  test(
    takes ? "accepts the documented fields; all others are marked `x-extension`" : "accepts no body",
    () => {
      const [content] = Object.entries(operation.requestBody?.content ?? {});
      if (!takes) return expect(content).toBeUndefined();
      const upload = entry.path.endsWith("/upload");
      expect(content![0]).toBe(upload ? "multipart/form-data" : "application/json");
      expect(fieldsOf(content![1].schema)).toEqual(expected(takes));
    },
  );

  const paged = "page" in Object(answers) || entry.path.endsWith("/logs");
  test(`accepts ${paged ? "the paging" : "no"} query; all other parameters are marked \`x-extension\``, () => {
    const query = (operation.parameters ?? []).filter(
      (parameter) => parameter.in === "query" && !parameter.schema["x-extension"],
    );
    const PAGING = {
      order: { type: "string", enum: ["asc", "desc"], default: "desc" },
      page: { type: "integer", minimum: 1, default: 1 },
      take: { type: "integer", minimum: 1, maximum: 100, default: 20 },
      ...(entry.path.endsWith("/logs") && {
        type: { type: "string", enum: ["VOICE", "TEXT", "SMS"] },
        search: { type: "string" },
      }),
    };
    const found = Object.fromEntries(
      query.map(({ name, schema: { format: _, ...schema } }) => [name, schema]),
    );
    expect(found).toEqual(paged ? PAGING : {});
  });
});
