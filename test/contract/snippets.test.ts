import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { parse, validate } from "graphql";
import ts from "typescript";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { compileInterfaces } from "../../src/start/app";
import { useApp } from "../support/app";
import { FAST } from "../support/calls";
import { newChat, say } from "../support/factories";
import { upload } from "../support/files";
import { checkByTool, CHECKERS, hasChecker } from "../support/snippet-checkers";
import { Subscriber } from "../support/subscriber";
import { PAGES, type Snippet, snippetsOf } from "../support/snippets";
import { until } from "../support/until";

/** Addresses as the pages write them. */
const HOST = "http://127.0.0.1:4000";
const PRIVATE = "http://localhost/";
/** Languages without a checker: HTML, which test/browser/widget-snippets opens, diagrams, output of programs, and rules for Prometheus, whose checker is large. */
const NOT_CHECKED = ["html", "mermaid", "text", "yaml"];

/** Imports of snippets that do not exist here: packages of front ends and generated files. Their types are not checked. */
const NOT_INSTALLED = [
  "./src/gql/schema.min.json",
  "@apollo/client",
  "@graphql-codegen/cli",
  "@urql/exchange-graphcache",
  "@urql/introspection",
];

const app = useApp(FAST);
const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
const folder = mkdtempSync(join(tmpdir(), "parley-snippets-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const all = PAGES.flatMap(snippetsOf);
const where = ({ page, line }: Snippet) => `${page}:${line}`;
const inLanguage = (language: string) =>
  all.filter((snippet) => snippet.language === language).map((snippet) => [where(snippet), snippet] as const);

test("code blocks name a language that is checked, or is listed as not checked", () => {
  const known = ["sh", "graphql", "json", "ts", ...Object.keys(CHECKERS), ...NOT_CHECKED];
  expect(all.filter(({ language }) => !known.includes(language)).map(where)).toEqual([]);
  expect(all.length).toBeGreaterThan(50);
});

test.each(inLanguage("graphql"))("the GraphQL at %s matches the schema", (_where, { code }) => {
  expect(validate(schema, parse(code))).toEqual([]);
});

describe("the GraphQL operations that need nothing outside the service", () => {
  const wanted = inLanguage("graphql").filter(
    ([, { code, notRun }]) => notRun === undefined && !code.startsWith("subscription"),
  );
  /** Values of arguments and variables, by name; the pages write the values as "…". */
  const values: Record<string, unknown> = { number: 1, from: 1, to: 1 };

  beforeAll(async () => {
    values.assistantId = values.id = await assistant();
    const start = "mutation ($assistantId: ID!) { startChat(input: { assistantId: $assistantId }) { id } }";
    values.chatId = (await app.api.gql(start, values)).startChat.id;
    const destination = { url: "https://receiver.example/events", secret: "topsecret" };
    values.destinationId = (await app.api.post("/rest/v1/settings", destination, 201)).id;
    values.fileId = (await upload(app.api, { content: "We open at nine." })).id;
  });

  test.each(wanted)("at %s run without an error", async (_where, { code }) => {
    const document = code
      .replaceAll(/(\w+): "…"/g, (_all, name: string) => `${name}: ${JSON.stringify(values[name])}`)
      .replaceAll("ASSISTANT_ID", String(values.assistantId))
      .replaceAll("https://shop.example/", PRIVATE); // to which nothing is sent
    const names = [...document.matchAll(/\$(\w+): /g)].map(([, name]) => name!);
    const variables = Object.fromEntries(names.map((name) => [name, values[name]]));
    for (const result of Object.values(await app.api.gql(document, variables))) expect(result).not.toBeNull();
  });
});

describe("the GraphQL subscriptions", () => {
  const wanted = inLanguage("graphql").filter(([, { code }]) => code.startsWith("subscription"));

  test.each(wanted)("at %s stream what happens", async (_where, { code }) => {
    const chatId = await newChat(app.api, await assistant());
    const subscriber = new Subscriber(app.url, { "X-API-Key": app.secretKey });
    const heard: unknown[] = [];
    let problem: unknown;
    const next = (data: unknown) => void heard.push(data);
    void subscriber.run(code, { chatId }, next).then((errors) => (problem = errors));
    await until(async () => {
      await assistant();
      await say(app.api, chatId, "Hello.");
      return heard.length > 0 || problem !== undefined;
    });
    expect(problem).toBeUndefined();
    await subscriber.close();
  });
});

test.each(inLanguage("json"))("the JSON at %s is valid", (_where, { code }) => {
  expect(() => JSON.parse(code) as unknown).not.toThrow();
});

describe("the TypeScript", () => {
  // test/client installs the client's package, and compiles and runs what uses it.
  const snippets = inLanguage("ts").filter(([, { code }]) => !code.includes(' from "parley/client"'));
  const files = snippets.map((_snippet, index) => join(__dirname, `snippet-${index}.ts`));
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    types: ["node"],
  };
  const host = ts.createCompilerHost(options);
  const onDisk = host.readFile.bind(host);
  const codeOf = (path: string) => snippets[files.indexOf(path)]?.[1].code;
  host.readFile = (path) => codeOf(path) ?? onDisk(path);
  const exists = host.fileExists.bind(host);
  host.fileExists = (path) => files.includes(path) || exists(path);
  const program = ts.createProgram(files, options, host);

  test.each(snippets.map(([place], index) => [place, files[index]!] as const))(
    "at %s has the types that it claims",
    (_place, file) => {
      const problems = ts
        .getPreEmitDiagnostics(program, program.getSourceFile(file))
        .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"))
        .filter((text) => !NOT_INSTALLED.some((name) => text.startsWith(`Cannot find module '${name}'`)));
      expect(problems).toEqual([]);
    },
  );
});

describe.each(Object.entries(CHECKERS))("snippets of %s", (language, { program }) => {
  // The summary of the run counts what the machine lacks. The functions that verify signatures run in test/domain/signatures.
  if (!hasChecker(language)) test.todo(`pass ${program}, which is not installed`);
  else
    test.each(inLanguage(language))(`pass ${program}: %s`, async (_where, { code }) => {
      await checkByTool(language, code, folder);
    });
});

const bash = (script: string, ...options: string[]) =>
  promisify(execFile)("bash", [...options, "-c", script], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder },
  });

describe.each(PAGES.filter((page) => snippetsOf(page).some(({ language }) => language === "sh")))(
  "the commands of %s",
  (page) => {
    const commands = snippetsOf(page).filter(({ language }) => language === "sh");
    const variables: Record<string, string> = {};

    test.each(commands.map((command) => [command.line, command] as const))(
      "run as written at line %d",
      async (line, { code, notRun, results }) => {
        if (notRun !== undefined || !code.includes(HOST)) return void (await bash(code, "-n"));
        variables.KEY ??= app.secretKey;
        variables.ASSISTANT_ID ??= await assistant();
        const set = Object.entries(variables).map(([name, value]) => `${name}='${value}'`);
        const script = [
          ...set,
          'curl() { command curl --silent --show-error --fail-with-body "$@"; }',
          "set -e",
        ];
        const { stdout } = await bash([...script, code.replaceAll(HOST, app.url)].join("\n"));
        expect(stdout).not.toMatch(/"errors"|ASSISTANT_ID|"statusCode"/);
        const [after] = snippetsOf(page).filter((snippet) => snippet.line > line);
        if (after?.isAnswer) expect(JSON.parse(stdout)).toMatchObject(answerIn(after));
        for (const [name, path] of Object.entries(results)) {
          const value = path.split(".").reduce((whole, field) => Object(whole)[field], JSON.parse(stdout));
          expect(value).toMatch(/\w/);
          variables[name] = value;
        }
      },
    );
  },
);

/** The answer that a page shows; "…" stands for any value. */
const answerIn = ({ code }: Snippet) =>
  JSON.parse(code, (_name, value: unknown) => (value === "…" ? expect.anything() : value)) as Record<
    string,
    unknown
  >;

async function assistant(): Promise<string> {
  const { id } = (await app.api.post("/rest/v1/assistants", { name: "Snippets" }, 200)) as { id: string };
  return id;
}
