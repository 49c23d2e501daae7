import "reflect-metadata";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import ts from "typescript";
import { compileInterfaces } from "../../src/start/app";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { each, importsOf, sourceFiles } from "../support/source";

const all = sourceFiles("schema", "rest-compat", "src");
/** Files outside the folders that may use the database without a Scope; a backup covers all organizations. */
const bound = all.filter(
  ({ fileName }) => !/^src\/(platform\/(database|jobs)|worker|backup)\//.test(fileName),
);

interface MethodCall {
  readonly node: ts.CallExpression;
  readonly name: string;
  /** The expression that the method is called on. */
  readonly on: ts.Expression;
}

/** All calls of methods whose name `matches` accepts. */
function methodCalls(file: ts.SourceFile, matches: RegExp): MethodCall[] {
  const found: MethodCall[] = [];
  each(file, (node) => {
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return;
    const { name, expression: on } = node.expression;
    if (matches.test(name.text)) found.push({ node, name: name.text, on });
  });
  return found;
}

const place = (file: ts.SourceFile, node: ts.Node) =>
  `${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;

/** Positions of the calls that `breaks` selects. */
const breaches = (matches: RegExp, breaks: (call: MethodCall) => boolean) =>
  bound.flatMap((file) =>
    methodCalls(file, matches)
      .filter(breaks)
      .map(({ node }) => place(file, node)),
  );

/** The start of a chain of calls and properties: `q` in `q.where(…).orWhere(…)`. */
function beginning(expression: ts.Expression): ts.Expression {
  if (ts.isCallExpression(expression) || ts.isPropertyAccessExpression(expression))
    return beginning(expression.expression);
  return expression;
}

/** Excludes `union` of Zod and `raw` of Express. */
const isQuery = ({ on }: MethodCall) => !/^(z|express)$/.test(beginning(on).getText());

/** Whether a chain begins with the parameter of a function that was passed to `where`: a group of its own. */
function isGrouped({ node, on }: MethodCall): boolean {
  const start = beginning(on);
  for (let above: ts.Node = node; above.parent; above = above.parent) {
    if (!ts.isArrowFunction(above) && !ts.isFunctionExpression(above)) continue;
    const isParameter = above.parameters.some(({ name }) => name.getText() === start.getText());
    const { parent } = above;
    return (
      isParameter &&
      ts.isCallExpression(parent) &&
      ts.isPropertyAccessExpression(parent.expression) &&
      /^(and)?where(Not)?$/i.test(parent.expression.name.text)
    );
  }
  return false;
}

const isText = (node: ts.Node | undefined) =>
  node !== undefined && (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node));

/** The texts in a file, as written. */
function textsOf(file: ts.SourceFile): string[] {
  const found: string[] = [];
  each(file, (node) => {
    if (isText(node)) found.push(node.getText());
  });
  return found;
}

/** Names of the parts of `with` clauses in our SQL, which may be composed of several texts. `AuditedStatement` adds the first. */
const PARTS = new Set([
  "changed",
  ...bound
    .flatMap((file) => textsOf(file))
    .flatMap((text) => [...text.matchAll(/\b([a-z_]+) as (?:materialized )?\(/g)])
    .map(([, name]) => name!),
]);

/** Tables that a statement uses without a condition on the organization, by their names in the statement. */
function tablesWithoutOrganization(sql: string): string[] {
  const NO_TABLES = "unnest|lateral|json_to_recordset|set";
  const KEYWORDS = "where|on|join|cross|left|right|inner|order|group|limit|set|as|using|for|union|returning";
  const named = new RegExp(
    `\\b(?:from|join|into|update)\\s+(?!(?:${NO_TABLES})\\b)([a-z_]+)(?:\\s+(?:as\\s+)?(?!(?:${KEYWORDS})\\b)([a-z_]+))?`,
    "gi",
  );
  const names = [...sql.matchAll(named)].map(([, table, alias]) => alias ?? table!);
  const isPart = (name: string) =>
    PARTS.has(name) || new RegExp(`\\b${name} as (?:materialized )?\\(`).test(sql);
  const isNamed = (name: string) =>
    sql.includes(`${name}.organization_id`) ||
    sql.includes(`insert into ${name} (organization_id,`) ||
    (name === "organizations" && sql.includes("organizations.id = $1"));
  return names.filter((name) => !isPart(name) && !isNamed(name));
}

describe("queries stay within their organization:", () => {
  test("the examined calls are found", () => {
    const calls = bound.flatMap((file) => methodCalls(file, /^(table|insert|where|orWhere\w*)$/));
    expect(calls.length).toBeGreaterThan(50);
  });

  test("an `or` beside the organization's condition is detected, one in a group is not", () => {
    const text = "t.where(a).orWhere(b); t.where((q) => q.where(a).orWhere(b)); f((q) => q.orWhere(b));";
    const file = ts.createSourceFile("text.ts", text, ts.ScriptTarget.Latest, true);
    expect(methodCalls(file, /^orWhere$/).map(isGrouped)).toEqual([false, true, false]);
  });

  test("`or` occurs only inside a group of conditions", () => {
    expect(breaches(/^or(Where|Having)/, (call) => !isGrouped(call))).toEqual([]);
  });

  test("no query is combined with another one outside its condition", () => {
    expect(breaches(/^(union|unionAll|intersect|except|joinRaw|fromRaw|crossJoin)$/, isQuery)).toEqual([]);
  });

  test("no part of a statement uses the name of a table for something else", () => {
    const tables = readFileSync("src/platform/database/tables/tables.ts", "utf8").matchAll(/"(\w+)"/g);
    expect([...tables].map(([, name]) => name!).filter((name) => PARTS.has(name))).toEqual([]);
    expect([...PARTS]).toEqual(expect.arrayContaining(["cause", "message", "event"]));
  });

  test("joins go through Scope", () => {
    const bare = /^(join|innerJoin|leftJoin|leftOuterJoin|rightJoin|fullOuterJoin)$/;
    const onQuery = ({ node, on }: MethodCall) =>
      node.arguments.length > 1 && !/\b(scope|path|posix)$/.test(on.getText());
    expect(breaches(bare, onQuery)).toEqual([]);
  });

  test("rows are inserted by scope.insert, which adds the organization", () => {
    const onTable = ({ on }: MethodCall) => /\btable\(/.test(on.getText());
    const unscoped = ({ on }: MethodCall) => !/^(this\.)?scope\b|^tx\b/.test(on.getText());
    expect(breaches(/^insert$/, (call) => onTable(call) || unscoped(call))).toEqual([]);
  });

  test("`db` of a statement is used only for fragments of SQL, never to reach a table", () => {
    const uses: string[] = [];
    for (const file of bound)
      each(file, (node) => {
        if (!ts.isCallExpression(node)) return;
        const { expression } = node;
        const isDb = (one: ts.Node) => ts.isIdentifier(one) && /^(db|knex|trx)$/.test(one.text);
        if (isDb(expression)) uses.push(place(file, node));
        if (
          ts.isPropertyAccessExpression(expression) &&
          isDb(expression.expression) &&
          expression.name.text !== "raw"
        )
          uses.push(place(file, node));
      });
    // These open the connection, which services use only through a Scope.
    expect(uses.filter((use) => !/^src\/(start\/(app|prepare)|cli\/[\w-]+)\.ts/.test(use))).toEqual([]);
  });

  test("raw SQL is written as a literal and names the organization of every table in it", () => {
    const open = bound.flatMap((file) =>
      methodCalls(file, /^(raw|\w+Raw)$/)
        .filter(isQuery)
        .filter(
          ({ node }) =>
            !isText(node.arguments[0]) || tablesWithoutOrganization(node.arguments[0]!.getText()).length > 0,
        )
        .map(({ node }) => place(file, node)),
    );
    expect(open).toEqual([]);
    expect(tablesWithoutOrganization("select 1 from chats c join files on c.organization_id = $1")).toEqual([
      "files",
    ]);
    const parts =
      "with a as (select 1 from chats), b as (insert into files (id) select 1 from a) select 1 from b";
    expect(tablesWithoutOrganization(parts)).toEqual(["chats", "files"]);
  });

  test("statements are made when their module is loaded, so that their text is built once", () => {
    const makers = /^(statement|unprepared|perId|factsOf|changing|List|FilteredStatement)$/;
    const isMethod = (node: ts.Node) => ts.isMethodDeclaration(node) || ts.isConstructorDeclaration(node);
    const isAsync = (node: ts.Node) =>
      (ts.isArrowFunction(node) || ts.isFunctionDeclaration(node)) &&
      node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword) === true;
    const takesScope = (node: ts.Node) =>
      (ts.isArrowFunction(node) || ts.isFunctionDeclaration(node)) &&
      node.parameters.some(({ name }) => /\bscope\b/.test(name.getText()));
    const made: string[] = [];
    const late: string[] = [];
    for (const file of bound)
      each(file, (node) => {
        if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return;
        if (!makers.test(node.expression.getText())) return;
        made.push(place(file, node));
        for (let above: ts.Node = node; above.parent; above = above.parent)
          if (isMethod(above) || isAsync(above) || takesScope(above))
            return void late.push(place(file, node));
      });
    expect(made.length).toBeGreaterThan(40);
    expect(late).toEqual([]);
  });

  test("a prepared statement gets its name from its text, nowhere by hand", () => {
    const isNamed = (node: ts.Node | undefined) =>
      node !== undefined &&
      ts.isObjectLiteralExpression(node) &&
      node.properties.some((property) => property.name?.getText() === "name");
    const named = (file: ts.SourceFile) =>
      methodCalls(file, /^query$/).filter(({ node }) => node.arguments.some(isNamed));
    const text = 'pool.query({ name: "a.b", text, values }); pool.query({ text, values });';
    const sample = ts.createSourceFile("text.ts", text, ts.ScriptTarget.Latest, true);
    expect(named(sample)).toHaveLength(1);
    expect(all.flatMap((file) => named(file).map(({ node }) => place(file, node)))).toEqual([]);
  });

  test("Knex itself is imported in src/platform/database only", () => {
    const importing = bound.flatMap(importsOf).filter(({ to, typeOnly }) => to === "knex" && !typeOnly);
    expect(importing.map(({ from }) => from)).toEqual([]);
  });
});

interface Metadata {
  readonly authorizedFields: readonly unknown[];
  readonly fields: readonly {
    readonly name: string;
    readonly roles?: unknown;
    readonly middlewares?: readonly unknown[];
  }[];
  readonly objectTypes: readonly { readonly name: string; readonly simpleResolvers?: boolean }[];
}

describe("no guard is placed where type-graphql would not run it:", () => {
  compileInterfaces(loadCatalog(), readConfig({}));
  // The global in which type-graphql stores the arguments of its decorators.
  const { TypeGraphQLMetadataStorage } = globalThis as unknown as { TypeGraphQLMetadataStorage: Metadata };
  const { authorizedFields, fields, objectTypes } = TypeGraphQLMetadataStorage;

  test("the decorators are found", () => {
    expect(fields.length).toBeGreaterThan(100);
    expect(objectTypes.length).toBeGreaterThan(10);
  });

  test("every object type reads its plain fields without a wrapper", () => {
    expect(
      objectTypes.filter(({ simpleResolvers }) => simpleResolvers !== true).map(({ name }) => name),
    ).toEqual([]);
  });

  test("no plain field has a guard or a middleware", () => {
    const guarded = fields.filter(
      ({ roles, middlewares = [] }) => roles !== undefined || middlewares.length > 0,
    );
    expect(guarded.map(({ name }) => name)).toEqual([]);
  });

  test("@Authorized is not used, because the rules are in one table", () => {
    expect(authorizedFields).toEqual([]);
    const using = all.filter((file) => /\bAuthorized\b/.test(file.text)).map(({ fileName }) => fileName);
    expect(using).toEqual([]);
  });
});
