import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { codegen } from "@graphql-codegen/core";
import * as operationTypes from "@graphql-codegen/typescript-operations";
import {
  getNamedType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  isUnionType,
  parse,
  printSchema,
  validate,
  type GraphQLField,
  type GraphQLNamedType,
} from "graphql";
import ts from "typescript";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { compileInterfaces } from "../../src/start/app";

const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
const folder = mkdtempSync(join(tmpdir(), "parley-generated-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The scalars as docs/graphql-clients.md maps them. A scalar that it leaves out gets a type that does not exist. */
const CONFIG = {
  scalars: { DateTime: "string", JSON: "unknown", JSONObject: "Record<string, unknown>", Upload: "File" },
  defaultScalarType: "ScalarWithoutType",
  enumType: "string-literal",
  namingConvention: "keep",
  omitOperationSuffix: true,
};

/** All fields of a type, and of the objects in it down to some depth, each under a name of its own. */
function selectionOf(type: GraphQLNamedType, depth: number): string {
  if (isLeafType(type)) return "";
  const types = isUnionType(type) ? type.getTypes() : [type];
  const parts = types.map((one) => {
    const fields = isObjectType(one) ? Object.values(one.getFields()) : [];
    const chosen = fields.filter(({ args }) => !args.some(isRequiredArgument));
    const selected = chosen.flatMap(({ name, type: field }) => {
      const named = getNamedType(field);
      if (isLeafType(named)) return name;
      return depth > 0 ? `${name} ${selectionOf(named, depth - 1)}` : [];
    });
    return `... on ${one.name} { __typename ${selected.join(" ")} }`;
  });
  return `{ __typename ${isObjectType(type) || isUnionType(type) ? parts.join(" ") : ""} }`;
}

function documentOf(kind: string, { name, args, type }: GraphQLField<unknown, unknown>): string {
  const [declared, passed] = [
    args.map((arg) => `$${arg.name}: ${String(arg.type)}`).join(", "),
    args.map((arg) => `${arg.name}: $${arg.name}`).join(", "),
  ];
  const title = `${kind}_${name}`;
  return `${kind} ${title}${declared && `(${declared})`} { ${name}${passed && `(${passed})`} ${selectionOf(getNamedType(type), 2)} }`;
}

const roots = {
  query: schema.getQueryType()!,
  mutation: schema.getMutationType()!,
  subscription: schema.getSubscriptionType()!,
};
const documents = Object.entries(roots).flatMap(([kind, root]) =>
  Object.values(root.getFields()).map((field) => documentOf(kind, field)),
);

/** The problems that TypeScript has with a file. */
function problemsOf(file: string): string[] {
  const options = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    lib: ["lib.es2023.d.ts", "lib.dom.d.ts"],
  };
  const program = ts.createProgram([file], options);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}

test("code generators make strict types of every operation with all its fields, variables and inputs", async () => {
  for (const text of documents) expect([text, validate(schema, parse(text))]).toEqual([text, []]);
  const code = await codegen({
    filename: "operations.ts",
    schema: parse(printSchema(schema)),
    documents: documents.map((text, index) => ({ location: `${index}.graphql`, document: parse(text) })),
    plugins: [{ operations: CONFIG }],
    pluginMap: { operations: operationTypes },
    config: {},
  });
  expect(code).not.toMatch(/:\s*any\b/);
  const uses = `
    const right: query_assistantVariables = { id: "1" };
    // @ts-expect-error without the required variable
    const wrong: query_assistantVariables = {};
    declare const found: query_assistant;
    const name: string | undefined = found.assistant?.name;
    // @ts-expect-error may be null
    found.assistant.name;`;
  const file = join(folder, "operations.ts");
  writeFileSync(file, code + uses);
  expect(problemsOf(file)).toEqual([]);
});
