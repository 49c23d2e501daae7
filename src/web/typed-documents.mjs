// Generates the TypeScript of the pages' GraphQL documents, typed by the schema, and writes it beside each document:
// node src/web/typed-documents.mjs
import { codegen } from "@graphql-codegen/core";
import * as operationTypes from "@graphql-codegen/typescript-operations";
import { buildSchema, Kind, parse, print, stripIgnoredCharacters, validate, visit } from "graphql";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";

const here = dirname(fileURLToPath(import.meta.url));
const SCHEMA = join(here, "../../schema/schema.graphql");
/** Documents by the module that is generated from them. */
const DOCUMENTS = {
  "widget/app/operations.generated.ts": "widget/app/operations.graphql",
  "dashboard/operations.generated.ts": "dashboard/operations.graphql",
  "client/operations.generated.ts": "client/operations.graphql",
};
const CONFIG = {
  enumType: "string-literal",
  immutableTypes: true,
  inlineFragmentTypes: "combine",
  omitOperationSuffix: true,
  scalars: { DateTime: "string", ID: "string", JSONObject: "Readonly<Record<string, unknown>>" },
  skipTypename: true,
  defaultScalarType: "unknown",
};

/** READ_WIDGET of ReadWidget. */
const constantOf = (name) => name.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();

/** The text of each operation by its name. It has no fragments: the server counts each as one more level. */
function textsOf(schema, definitions) {
  const fragments = new Map(definitions.map((node) => [node.name.value, node.selectionSet.selections]));
  const inlined = (selections) =>
    selections.flatMap((node) =>
      node.kind === Kind.FRAGMENT_SPREAD ? inlined(fragments.get(node.name.value)) : [node],
    );
  const SelectionSet = (node) => ({ ...node, selections: inlined(node.selections) });
  const textOf = (definition) => {
    const operation = stripIgnoredCharacters(print(visit(definition, { SelectionSet })));
    const [problem] = validate(schema, parse(operation));
    if (problem) throw problem;
    return operation;
  };
  return definitions
    .filter(({ kind }) => kind === Kind.OPERATION_DEFINITION)
    .map((definition) => [definition.name.value, textOf(definition)]);
}

/** A plugin: the text of each operation with its types. */
const operationTexts = (schema, documents) =>
  textsOf(
    schema,
    documents.flatMap(({ document }) => document.definitions),
  )
    .map(([name, text]) => {
      const value = `${JSON.stringify(text)} as TypedDocument<${name}, ${name}Variables>`;
      return `export const ${constantOf(name)} = ${value};`;
    })
    .join("\n\n");

/**
 * The TypeScript of a document.
 * @throws Error that says where the document does not fit the schema
 */
export async function typescriptOf(schema, text, name) {
  const filename = join(here, name);
  const generated = await codegen({
    schema: parse(schema),
    documents: [{ location: name, document: parse(text) }],
    filename,
    config: CONFIG,
    plugins: [{ operationTypes: {} }, { operationTexts: {} }],
    pluginMap: { operationTypes, operationTexts: { plugin: operationTexts } },
  });
  const up = "../".repeat(name.split("/").length - 1);
  const header = [
    "// Generated from operations.graphql and the schema by `npm run docs`.",
    `import type { TypedDocument } from "${up}typed-document";`,
  ];
  return format([...header, generated].join("\n"), {
    ...(await resolveConfig(filename)),
    filepath: filename,
  });
}

/** The generated files by their path in the repository: a module for each document, and the texts for the server. */
export async function typedDocuments() {
  const schema = await readFile(SCHEMA, "utf8");
  const texts = await Promise.all(Object.values(DOCUMENTS).map((path) => readFile(join(here, path), "utf8")));
  const entries = Object.keys(DOCUMENTS).map(async (name, n) => [
    `src/web/${name}`,
    await typescriptOf(schema, texts[n], name),
  ]);
  const built = buildSchema(schema);
  const operations = texts.flatMap((text) => textsOf(built, parse(text).definitions));
  return {
    ...Object.fromEntries(await Promise.all(entries)),
    "src/http/graphql/own-operations.json": `${JSON.stringify(
      operations.map(([, text]) => text),
      null,
      2,
    )}\n`,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const [path, text] of Object.entries(await typedDocuments()))
    await writeFile(join(here, "../..", path), text);
