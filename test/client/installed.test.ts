import { cpSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { codegen } from "@graphql-codegen/core";
import * as documentNodes from "@graphql-codegen/typed-document-node";
import * as operationTypes from "@graphql-codegen/typescript-operations";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { parse } from "graphql";
import { useApp } from "../support/app";
import { launchBrowser } from "../support/browser";
import { newAssistant } from "../support/factories";
import { Receiver } from "../support/receiver";
import { afterTest } from "../support/server";
import { snippetsOf } from "../support/snippets";
import { stubModel } from "../support/stub-model";
import { until } from "../support/until";
import { newProject, type Project } from "./project";

const running = useApp({ WORKER: "on", OUTBOUND_ALLOW: "127.0.0.0/8" });
const SECRET = "whsec_dG9wc2VjcmV0";
const MODEL = `mutation ($url: String!) { setModelCredential(input: { provider: OPENAI, apiKey: "k", baseUrl: $url }) { provider } }`;
const MOST_BYTES = 8_000;

let project: Project;
let model: Awaited<ReturnType<typeof stubModel>>;
beforeAll(async () => {
  project = await newProject();
  project.write("exercise.mjs", readFileSync(join(__dirname, "exercise.mjs"), "utf8"));
  project.write("run.mjs", RUN);
  model = await stubModel({ text: ["At ", "nine."] });
  await running.api.gql(MODEL, { url: model.url });
}, 240_000);
afterAll(() => model.stop());

const RUN = `import { exercise } from "./exercise.mjs";
console.log(JSON.stringify(await exercise(JSON.parse(process.env.OPTIONS))));`;

/** A delivery of the service, as a receiver got it. */
async function delivered(): Promise<{ headers: Record<string, string>; body: string }> {
  const receiver = await new Receiver().start();
  afterTest(() => receiver.stop());
  const { id } = (await running.api.post(
    "/rest/v1/settings",
    { url: receiver.url, secret: SECRET, events: ["session-start"] },
    201,
  )) as { id: string };
  await newChatOf(await newAssistant(running.api));
  await until(() => receiver.received.length > 0);
  await running.api.delete(`/rest/v1/settings/${id}`, 200);
  const [{ headers, text }] = receiver.received as [(typeof receiver.received)[number]];
  const names = Object.keys(headers).filter((name) => name.startsWith("webhook-"));
  return { headers: Object.fromEntries(names.map((name) => [name, String(headers[name])])), body: text };
}

const newChatOf = async (assistantId: string) =>
  (await running.api.post("/rest/v1/ai-chats", { assistantId }, 201)) as { id: string };

async function options() {
  const assistantId = await newAssistant(running.api);
  const delivery = await delivered();
  return { url: running.url, key: running.secretKey, assistantId, delivery, secret: SECRET };
}

function expectResults(results: Record<string, unknown>, chatId: string | undefined): void {
  const { chat, ...rest } = results as { chat: [string, string[], string, string[]] };
  expect(rest).toEqual({
    rest: ["Ada", "ASSISTANT_NOT_FOUND", 400],
    graphql: ["Bea", "Bea"],
    refused: [true, "ASSISTANT_NOT_FOUND", ["assistant"]],
    webhook: ["session-start", chatId, "INVALID_WEBHOOK"],
  });
  const [greeting, answer, status, history] = chat;
  expect(answer.at(-1)).toBe("ASSISTANT: At nine.");
  expect(answer.slice(0, -1).join("")).toBe("At nine.");
  expect([status, history]).toEqual(["ended", [greeting, "When do you open?", "At nine."]]);
}

describe("a program that has installed the package uses REST, GraphQL, a streamed chat and webhooks", () => {
  test("in Node.js", async () => {
    const given = await options();
    const output = await project.node("run.mjs", { OPTIONS: JSON.stringify(given) });
    expectResults(JSON.parse(output) as never, given.delivery.headers["webhook-chat-id"]);
  });

  test("in a runtime for Workers, without Node.js", async () => {
    const given = await options();
    const { files } = await bundled("worker", "exercise.mjs");
    const file = project.write("worker.js", Object.values(files)[0]!);
    const output = await project.tool("../test/client/worker.mjs", file, JSON.stringify(given));
    expectResults(JSON.parse(output) as never, given.delivery.headers["webhook-chat-id"]);
  });

  test("in a page of another origin", async () => {
    const given = await options();
    const { files } = await bundled("browser", "exercise.mjs");
    const site = createServer(({ url }, res) => {
      const script = files[url!.slice(1)];
      res.setHeader("Content-Type", script === undefined ? "text/html" : "text/javascript");
      res.end(script ?? "<!doctype html><title>Page</title>");
    }).listen(0, "127.0.0.1");
    afterTest(() => void site.close());
    await using browser = await launchBrowser();
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    const results = await page.evaluate(async (text) => {
      const { exercise } = (await import(`/exercise.js${""}`)) as {
        exercise: (it: unknown) => Promise<unknown>;
      };
      return exercise(JSON.parse(text));
    }, JSON.stringify(given));
    expectResults(results as never, given.delivery.headers["webhook-chat-id"]);
  });
});

const bundled = async (runtime: string, entry: string) =>
  JSON.parse(
    await project.tool("../test/client/bundle.mjs", runtime, join(project.folder, entry), project.folder),
  ) as { size: number; files: Record<string, string> };

test("a page downloads less than 8 kB of it", async () => {
  project.write("small.mjs", 'export { createClient, verifyWebhook } from "parley/client";');
  const { size, files } = await bundled("browser", "small.mjs");
  expect(size).toBeLessThan(MOST_BYTES);
  // graphql-ws and the printer of documents load later.
  expect(Object.keys(files).length).toBeGreaterThan(2);
});

/** Compiles all programs of the project with strict rules, each into JavaScript beside it. @throws with what TypeScript says */
async function compile(): Promise<void> {
  const types = (name: string) => join(project.folder, "node_modules", name);
  rmSync(types("@types"), { recursive: true, force: true });
  symlinkSync(join(MODULES, "@types"), types("@types"));
  for (const name of ["undici-types", "@graphql-typed-document-node"])
    cpSync(join(MODULES, name), types(name), { recursive: true });
  project.write("documents.ts", await documents());
  const programs = { types: TYPES, typed: TYPED, ...SAMPLES };
  const names = Object.entries(programs).map(([name, code]) =>
    project.write(`${name}.ts`, code.replaceAll("http://127.0.0.1:4000", running.url)),
  );
  await project.tool("typescript/bin/tsc", ...STRICT, ...names).catch((error: { stdout: string }) => {
    throw new Error(error.stdout);
  });
}

const MODULES = join(__dirname, "../../node_modules");
const STRICT = [
  ...["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noEmitOnError"],
  ...["--module", "nodenext", "--target", "es2022", "--lib", "es2023,dom,dom.iterable,dom.asynciterable"],
  ...["--types", "node", "--ignoreConfig", "--pretty", "false"],
];

/** Documents without their texts, as a code generator makes them of the schema in the package. */
const documents = () =>
  codegen({
    filename: "documents.ts",
    schema: parse(readFileSync(join(project.folder, "node_modules/parley/schema/schema.graphql"), "utf8")),
    documents: [{ location: "documents.graphql", document: parse(DOCUMENTS, { noLocation: true }) }],
    plugins: [{ types: {} }, { nodes: {} }],
    pluginMap: { types: operationTypes, nodes: documentNodes },
    config: { useTypeImports: true, scalars: { DateTime: "string", JSONObject: "Record<string, unknown>" } },
  });

const DOCUMENTS = `
mutation Rename($id: ID!, $input: UpdateAssistantInput!) { updateAssistant(id: $id, input: $input) { ...Named } }
subscription Follow($after: ID) { organizationEvents(after: $after) { id data { ... on SessionEndData { endedReason } } } }
fragment Named on Assistant { id name }`;

/** A program with all types, and lines that the compiler must refuse. */
const TYPED = `
import { createClient } from "parley/client";
import { FollowDocument, RenameDocument } from "./documents.js";
const parley = createClient({ url: process.env.PARLEY_URL!, key: process.env.KEY! });
const { updateAssistant } = await parley.graphql(RenameDocument, { id: process.env.ASSISTANT_ID!, input: { name: "Cleo" } });
console.log(updateAssistant?.name);
// @ts-expect-error a variable is missing
const wrong = () => parley.graphql(RenameDocument, { id: "1" });
// @ts-expect-error there is no such field
updateAssistant?.description;
export const reasons = async function* () {
  for await (const { organizationEvents } of parley.subscribe(FollowDocument, {})) {
    const id: string = organizationEvents.id;
    yield [id, organizationEvents.data];
  }
};
`;

const TYPES = `
import { createClient, type EventData, type ParleyError, type WebhookEvent } from "parley/client";
const parley = createClient({ url: new URL("http://127.0.0.1:4000"), token: async () => "token" });
export async function uses(event: WebhookEvent, error: ParleyError) {
  const { data, error: refused } = await parley.rest.GET("/rest/v1/assistants/{id}", { params: { path: { id: "1" } } });
  const name: string | undefined = data?.name;
  const code: string | undefined = refused?.code;
  await parley.rest.POST("/rest/v1/assistants", { body: { name: "Ada" } });
  // @ts-expect-error no such path
  await parley.rest.GET("/rest/v1/companions");
  // @ts-expect-error a name is a string
  await parley.rest.POST("/rest/v1/assistants", { body: { name: 1 } });
  // @ts-expect-error the id is missing
  await parley.rest.DELETE("/rest/v1/assistants/{id}");
  // @ts-expect-error a channel is TEXT, SMS or VOICE
  const wrong = () => parley.startChat({ assistantId: "1", channel: "MAIL" });
  const chat = await parley.startChat({ assistantId: "1", variables: { a: 1 } });
  const parts: string[] = [];
  for await (const part of chat.send("Hello")) parts.push(part.type === "text" ? part.text : part.type);
  if (event.event === "session-end") {
    const reason: string = event.data.endedReason;
    return [reason, wrong];
  }
  // @ts-expect-error not every event has it
  event.data.endedReason;
  const ended: EventData<"session-end">["endedReason"] = "ended-by-api";
  // @ts-expect-error no such event
  type Unknown = EventData<"session-pause">;
  return [name, code, parts, ended, error.details?.[0]?.path];
}
`;

const samples = snippetsOf("docs/clients.md").filter(({ language }) => language === "ts");
const SAMPLES = Object.fromEntries(samples.map(({ line, code }) => [`sample-${line}`, code]));

describe("programs in TypeScript", () => {
  beforeAll(compile);

  test("know the types of REST, of events and of documents that a code generator has made", async () => {
    const ASSISTANT_ID = await newAssistant(running.api);
    const env = { PARLEY_URL: running.url, KEY: running.secretKey, ASSISTANT_ID };
    expect(await project.node("typed.js", env)).toBe("Cleo\n");
  });

  test.each(samples.map(({ line, code }) => [line, code] as const))(
    "run as docs/clients.md has them at line %d",
    async (line, code) => {
      const ASSISTANT_ID = await newAssistant(running.api);
      const env = { KEY: running.secretKey, ASSISTANT_ID, SECRET };
      if (code.includes("export async function POST")) {
        project.write("handle.mjs", HANDLE(`sample-${line}`));
        const DELIVERY = JSON.stringify(await delivered());
        return void expect(await project.node("handle.mjs", { ...env, DELIVERY })).toBe("204 403\n");
      }
      const happening = setInterval(() => void newChatOf(ASSISTANT_ID), 200);
      afterTest(() => clearInterval(happening));
      let output = "";
      // One follows what happens for a second, which a busy machine may need to connect.
      while (!/\w/.test(output)) output = await project.node(`sample-${line}.js`, env);
      // A sample says in comments what it prints.
      for (const [, printed] of code.matchAll(/console\.log\(.*\/\/ ([A-Z].*)/g))
        expect(output).toContain(printed);
    },
  );
});

const HANDLE = (name: string) => `
Object.assign(globalThis, { isNew: async () => true, store: async () => {} });
const { POST } = await import("./${name}.js");
const request = () => new Request("https://receiver.example/", { method: "POST", ...JSON.parse(process.env.DELIVERY) });
const first = await POST(request());
process.env.SECRET = "another";
console.log(first.status, (await POST(request())).status);
`;
