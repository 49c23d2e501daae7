import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "@jest/globals";
import {
  coerceInputValue,
  isInputType,
  Kind,
  parse,
  typeFromAST,
  validate,
  type GraphQLEnumType,
} from "graphql";
import { compileInterfaces, generatedDocuments } from "../../src/start/app";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { STATUS } from "../../src/http/errors/error-body";
import { groupDiagram } from "../../src/cli/group-diagram";
import { importsOf, sourceFiles } from "../support/source";
import { settingsTable } from "../../src/cli/settings-documents";
import { readConfig } from "../../src/platform/settings/config";
import { explorerTabs } from "../../src/web/explorer/tabs";
import { OpenApi, type JsonObject, type OpenApiDocument } from "../support/openapi";
import { PAGES } from "../support/snippets";

const root = join(__dirname, "../..");
const file = (path: string) => readFileSync(join(root, path), "utf8");
const documents = generatedDocuments();
const openApi = new OpenApi(JSON.parse(documents["rest-compat/openapi.json"]!) as OpenApiDocument);

describe("generated documents", () => {
  test.each(Object.keys(documents))("%s is up to date; otherwise run `npm run docs`", (path) => {
    expect(file(path)).toBe(documents[path]);
  });

  test("explain every error code by cause and remedy", () => {
    const [errors] = documents["docs/errors.md"]!.split("## Configuration warnings");
    const rows = errors!.split("\n").filter((line) => line.startsWith("| `"));
    const explained = rows.map((row) => row.split("|").map((cell) => cell.trim()));
    expect(explained.map(([, code]) => code!.replaceAll("`", ""))).toEqual(
      expect.arrayContaining(Object.keys(STATUS)),
    );
    for (const [, , status, cause, remedy] of explained)
      expect([Number(status) >= 400, /^[A-Z].+\.$/.test(cause!), /^[A-Z].+\.$/.test(remedy!)]).toEqual([
        true,
        true,
        true,
      ]);
  });

  test("include the schema, the OpenAPI document and the table of paths", () => {
    expect(Object.keys(documents).sort()).toEqual([
      "docs/errors.md",
      "rest-compat/ROUTES.md",
      "rest-compat/openapi.json",
      "schema/schema.graphql",
      "src/cli/files/schemas.generated.json",
      "src/events/schemas/asyncapi.json",
    ]);
  });

  test("have no example in the schemas of files that its enum does not allow", () => {
    const schemas = JSON.parse(documents["src/cli/files/schemas.generated.json"]!) as Record<string, object>;
    const outside = (value: unknown, path: string): string[] => {
      if (typeof value !== "object" || value === null) return [];
      const { enum: allowed, examples } = value as { readonly enum?: unknown; readonly examples?: unknown };
      const wrong =
        Array.isArray(allowed) && Array.isArray(examples)
          ? examples.filter((one) => !allowed.includes(one)).map((one) => `${path}: ${one}`)
          : [];
      return [
        ...wrong,
        ...Object.entries(value).flatMap(([name, inner]) => outside(inner, `${path}.${name}`)),
      ];
    };
    expect(Object.keys(schemas)).toEqual(["assistant", "workflow", "webhook", "deployment"]);
    expect(outside(schemas, "")).toEqual([]);
  });

  /** The cells of a table's rows, whatever space pads them. */
  const cells = (table: string) =>
    table
      .split("\n")
      .filter((line) => line.startsWith("|") && !/^[|\s-]+$/.test(line))
      .map((line) => line.split("|").map((cell) => cell.trim()));

  test("the table of settings is up to date; otherwise run `npm run docs`", () => {
    const [, table] = /<!-- settings -->([^]*?)<!-- \/settings -->/.exec(file("docs/settings.md")) ?? [];
    expect(cells(table ?? "")).toEqual(cells(settingsTable()));
    expect(cells(settingsTable()).length).toBeGreaterThan(20);
  });

  test("the page about workflows lists the operators of the schema", () => {
    const [, table] = /^\| Operator .*\n((?:\|.*\n)+)/m.exec(file("docs/workflows.md")) ?? [];
    const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
    const operators = (schema.getType("WorkflowOperator") as GraphQLEnumType).getValues(); // an enum
    const rows = operators.map(({ name, description }) => ["", `\`${name}\``, description, ""]);
    expect(cells(table ?? "")).toEqual(rows);
  });
});

describe("documents about the code", () => {
  test("the diagram of groups matches the imports; otherwise run `npm run docs`", () => {
    const [, drawn] = /<!-- groups -->([^]*?)<!-- \/groups -->/.exec(file("docs/architecture.md")) ?? [];
    expect(drawn?.trim()).toBe(groupDiagram());
    expect(groupDiagram()).toContain("chats --> events");
    const files = sourceFiles("src", "schema", "rest-compat");
    const parsed = files.flatMap(importsOf).filter(({ own }) => own);
    expect(groupDiagram(parsed.map(({ from, to }) => [from, to]))).toBe(groupDiagram());
  });

  const pages = [...PAGES, "CONTRIBUTING.md"];
  const links = pages.flatMap((page) =>
    [...file(page).matchAll(/\]\((?!https?:)([^)#]*)(#[^)]*)?\)/g)].map(([, path, heading]) => {
      const target = path === "" ? page : posix.join(posix.dirname(page), path!); // the pattern has this part
      return { page, target, heading };
    }),
  );

  test("contain links to files", () => expect(links.length).toBeGreaterThan(50));

  test.each(links)("$page: $target exists, with its heading $heading", ({ target, heading }) => {
    expect(existsSync(join(root, target))).toBe(true);
    if (heading !== undefined) expect(anchors(file(target))).toContain(heading);
  });

  /** The anchors of a page's headings, as GitHub derives them. */
  const anchors = (text: string) =>
    [...text.matchAll(/^#+ (.*)$/gm)].map(
      ([, title]) =>
        `#${title!
          .toLowerCase()
          .replace(/[^\w -]/g, "")
          .replaceAll(" ", "-")}`,
    );
});

/** Runs a script and parses the JSON that it prints. It imports ES modules, which jest can't, so it runs in a process. */
async function printedBy(script: string, ...values: readonly string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "--eval", script, ...values],
    { cwd: root },
  );
  return JSON.parse(stdout);
}

const openApiProblems = (path: string) =>
  printedBy(
    `
    import { readFileSync } from "node:fs";
    import { Validator } from "@seriousme/openapi-schema-validator";
    const validator = new Validator();
    const { valid, errors } = await validator.validate(JSON.parse(readFileSync(process.argv[1], "utf8")));
    console.log(JSON.stringify({ valid, errors, version: validator.version }));`,
    path,
  );

describe("GraphQL documents of the widget, the analytics page and the client", () => {
  const SCHEMA = "type Query { name(of: ID!): String! }";
  const typescriptOf = (document: string, schema = SCHEMA) =>
    printedBy(
      `
      import { typescriptOf } from "./src/web/typed-documents.mjs";
      const text = typescriptOf(...process.argv.slice(1), "widget/app/operations.generated.ts");
      console.log(JSON.stringify(await text.catch(({ message }) => ({ message }))));`,
      schema,
      document,
    );

  test("have up-to-date TypeScript; otherwise run `npm run docs`", async () => {
    const generated = (await printedBy(`
      import { typedDocuments } from "./src/web/typed-documents.mjs";
      console.log(JSON.stringify(await typedDocuments()));`)) as Record<string, string>;
    expect(Object.keys(generated)).toHaveLength(4);
    for (const [path, text] of Object.entries(generated)) expect([path, file(path)]).toEqual([path, text]);
  });

  test("have the types of the schema", async () => {
    const document = "query ReadName($id: ID!) { name(of: $id) }";
    expect(await typescriptOf(document)).toContain("{ readonly name: string }");
    const nullable = SCHEMA.replace("String!", "String");
    expect(await typescriptOf(document, nullable)).toContain("{ readonly name: string | null }");
  });

  test.each([
    ["a field", "query Read { nam }", 'Cannot query field "nam"'],
    ["an argument", "query Read { name(off: 1) }", 'Unknown argument "off"'],
    ["a type", "query Read($id: Id!) { name(of: $id) }", 'Unknown type "Id"'],
    ["a use of a type", "query Read($id: String!) { name(of: $id) }", 'of type "String!" used in position'],
  ])("are refused if the schema lacks %s", async (_what, document, problem) => {
    expect(await typescriptOf(document)).toEqual({ message: expect.stringContaining(problem) as unknown });
  });
});

describe("the OpenAPI document", () => {
  test("is valid OpenAPI 3.1 for version 1.0 of the API", async () => {
    expect(await openApiProblems("rest-compat/openapi.json")).toEqual({ valid: true, version: "3.1" });
    expect(openApi.document).toMatchObject({ openapi: "3.1.0", info: { version: "1.0" } });
  });

  const operations = Object.entries(openApi.document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const contents = operations.flatMap(({ path, method, operation }) => {
    const at = ["paths", path, method];
    const { requestBody, responses } = operation;
    return [
      ...(requestBody ? [{ at: [...at, "requestBody"], content: requestBody.content }] : []),
      ...Object.entries(responses).map(([status, { content }]) => ({
        at: [...at, "responses", status],
        content,
      })),
    ];
  });
  const bodies = contents.flatMap(({ at, content }) =>
    Object.entries(content ?? {}).map(([type, media]) => ({
      name: `${at.slice(1).join(" ")} ${type}`,
      pointer: [...at, "content", type, "schema"],
      media,
    })),
  );
  const form = "multipart/form-data";
  const shown = bodies.filter(({ name }) => !name.endsWith(form));

  test("names each operation once", () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(ids).toEqual([...new Set(ids)]);
  });

  test("has one example of every response and of every body except forms with files", () => {
    expect(shown.filter(({ media }) => media.example === undefined)).toEqual([]);
    const statuses = operations.flatMap(({ operation }) => Object.keys(operation.responses));
    const responses = statuses.filter((status) => status !== "304"); // without a body
    const shownResponses = shown.filter(({ pointer }) => pointer.includes("responses"));
    expect(shownResponses.length).toBeGreaterThanOrEqual(responses.length);
    expect(responses.length).toBeGreaterThan(300);
  });

  test("names the product, the first steps and every error code of its responses", () => {
    const { title, description } = openApi.document.info;
    expect(title).toContain("Parley");
    for (const part of ["npm run key:create", "X-API-Key", "curl", "/docs/start-rest"])
      expect(description).toContain(part);
    const codes = shown.flatMap(({ media }) => Object(media.example).code ?? []) as string[];
    for (const code of new Set(codes)) expect(description).toContain(`| \`${code}\` |`);
    expect(new Set(codes).size).toBeGreaterThan(10);
  });

  test.each(shown)("the example of $name matches its schema", ({ pointer, media }) => {
    expect(openApi.problems(pointer, media.example)).toEqual([]);
  });

  test.each(Object.entries(openApi.document.components.schemas))(
    "every property of %s has a description and a matching example",
    (name, { properties }) => {
      for (const [property, schema] of Object.entries(properties as Record<string, JsonObject>)) {
        expect([property, schema.description]).toEqual([property, expect.stringMatching(/\S/)]);
        for (const example of (schema.examples ?? []) as unknown[]) {
          const pointer = ["components", "schemas", name, "properties", property];
          expect([property, openApi.problems(pointer, example)]).toEqual([property, []]);
        }
      }
    },
  );

  test("has a summary for every operation and a description for every query and path parameter", () => {
    const silent = operations.flatMap(({ operation }) => {
      const { summary, parameters = [] } = operation as typeof operation & { summary?: string };
      const unexplained = parameters.filter((parameter) => !("description" in parameter));
      return [...(summary ? [] : [operation.operationId]), ...unexplained.map(({ name }) => name)];
    });
    expect(silent).toEqual([]);
  });
});

describe("the explorer's tabs", () => {
  const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
  const titled = explorerTabs.map((tab) => ({
    ...tab,
    title: /^(?:query|mutation|subscription) \w+/m.exec(tab.query)?.[0],
  }));

  test("exist", () => expect(explorerTabs.length).toBeGreaterThan(5));

  test.each(titled)("$title matches the schema, and so do its variables", ({ query, variables = {} }) => {
    const document = parse(query);
    expect(validate(schema, document).map(({ message }) => message)).toEqual([]);
    const declared = document.definitions.flatMap((definition) =>
      definition.kind === Kind.OPERATION_DEFINITION ? (definition.variableDefinitions ?? []) : [],
    );
    const names = declared.map(({ variable }) => variable.name.value);
    expect(Object.keys(variables).filter((name) => !names.includes(name))).toEqual([]);
    const problems: string[] = [];
    for (const { type: node, variable } of declared) {
      const type = typeFromAST(schema, node);
      const value = variables[variable.name.value];
      if (!isInputType(type) || (value === undefined && node.kind !== Kind.NON_NULL_TYPE)) continue;
      if (String(type) === "Upload!") {
        expect(value).toEqual({ name: expect.any(String), content: expect.any(String) });
        continue;
      }
      coerceInputValue(value, type, (path, _, { message }) => problems.push(`${path.join(".")} ${message}`));
    }
    expect(problems).toEqual([]);
  });
});
