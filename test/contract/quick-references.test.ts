import { describe, expect, test } from "@jest/globals";
import { generatedDocuments } from "../../src/start/app";
import { quickReferences } from "../../src/web/explorer/docs/resolve-subtree";
import type { JsonObject } from "../support/openapi";

const text = generatedDocuments()["rest-compat/openapi.json"]!;
const document = JSON.parse(text) as JsonObject & { readonly paths: Readonly<Record<string, JsonObject>> };
const { resolveSubtree } = quickReferences().fn;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => ["paths", path, method]),
);

describe("the resolver of the REST documentation", () => {
  test("resolves every reference of the document", async () => {
    const references = [...text.matchAll(/"\$ref": "([^"]*)"/g)].map(([, reference]) => reference);
    expect(references.length).toBeGreaterThan(100);
    expect(references.filter((reference) => !reference!.startsWith("#/components/"))).toEqual([]);
    for (const path of operations) {
      const { spec, errors } = await resolveSubtree(document, path);
      expect([path, errors, JSON.stringify(spec).includes('"$ref"')]).toEqual([path, [], false]);
    }
  });

  test("keeps what stands beside a reference, and the name of the schema", async () => {
    const name = { type: "string", description: "Of a name." };
    const components = { schemas: { Name: name } };
    const own = { $ref: "#/components/schemas/Name", description: "Of the person." };
    const { spec } = await resolveSubtree({ components, paths: { a: { list: [own] } } }, ["paths", "a"]);
    expect(spec).toEqual({ list: [{ ...name, $$ref: own.$ref, description: "Of the person." }] });
  });

  test("keeps a reference to a schema that contains it", async () => {
    const inner = { $ref: "#/components/schemas/Tree" };
    const components = { schemas: { Tree: { properties: { child: inner } } } };
    const { spec } = await resolveSubtree({ components, paths: { a: inner } }, ["paths", "a"]);
    expect(spec).toEqual({ properties: { child: inner }, $$ref: inner.$ref });
  });

  test("finds nothing at an unknown path", async () => {
    expect(await resolveSubtree(document, ["paths", "/nothing", "get"])).toEqual({
      spec: undefined,
      errors: [],
    });
  });
});
