import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { WebSocket } from "ws";
import { isObjectType } from "graphql";
import ts from "typescript";
import { compileInterfaces } from "../../src/start/app";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { useApp } from "../support/app";
import { newAssistant, newChat, say, UNKNOWN_ID } from "../support/factories";
import { snippetsOf } from "../support/snippets";
import { until } from "../support/until";

const running = useApp();
const snippets = snippetsOf("docs/graphql-clients.md");

interface Shown {
  readonly message: { readonly content: string } | null;
}
type Follow = (chatId: string, last?: string) => () => void;

const noErrors = (message: string) => {
  throw new Error(message);
};

/** The `follow` of the documentation, for this server. */
function follow(
  freshToken: () => Promise<string>,
  show: (event: Shown) => void,
  showError: (message: string) => void = noErrors,
): Follow {
  const { code } = snippets.find((snippet) => snippet.code.includes("createClient"))!;
  const { outputText } = ts.transpileModule(
    code.replace("ws://127.0.0.1:4000", running.url.replace("http", "ws")),
    {
      compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
    },
  );
  const exported: { follow?: Follow } = {};
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- runs the documented code as written
  const run = new Function("exports", "require", "freshToken", "show", "showError", outputText);
  run(exported, require, freshToken, show, showError);
  return exported.follow!;
}

beforeAll(() => void Object.assign(globalThis, { WebSocket }));
afterAll(() => void Reflect.deleteProperty(globalThis, "WebSocket"));

const tokenFor = async (body: object) =>
  (await running.api.post("/rest/v1/organization/token", body, 200)).token as string;

test.each([
  ["an unknown chat", () => tokenFor({}), { chat: UNKNOWN_ID }, "No chat with id"],
  ["an unknown event", () => tokenFor({}), { last: "undefined" }, "No event with id"],
  ["a token of a user", () => tokenFor({ userId: "u" }), {}, "A token issued for a user may not do this"],
  ["a wrong token", () => Promise.resolve("x.y.z"), {}, "This bearer token is not valid"],
])(
  "the documented client shows the error for %s and does not repeat it",
  async (_name, token, sent, message) => {
    const { chat, last } = { chat: undefined, last: undefined, ...sent };
    const chatId = chat ?? (await newChat(running.api, await newAssistant(running.api)));
    let connections = 0;
    const freshToken = () => {
      connections += 1;
      return token();
    };
    const shown = () => {
      throw new Error("No event was expected.");
    };
    const errors: string[] = [];
    const stop = follow(freshToken, shown, (error) => errors.push(error))(chatId, last);
    await until(() => errors.length > 0);
    stop();
    expect(errors).toEqual([expect.stringContaining(message)]);
    expect(connections).toBe(1);
  },
);

const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
/** Types whose id is that of another record, so that several objects have the same, with more fields than the id. */
const sharing = Object.values(schema.getTypeMap()).filter(
  (type) =>
    isObjectType(type) &&
    Object.keys(type.getFields()).length > 1 &&
    !["Deleted", "Query", "Mutation"].includes(type.name) &&
    /^Id of the \w+\.$/.test(type.getFields().id?.description ?? ""),
);

test("the documented caches keep no object under an id that several objects of its type have", () => {
  const [apollo, urql] = ["InMemoryCache", "cacheExchange"].map(
    (name) => snippets.find(({ code }) => code.includes(name))!.code,
  );
  expect(sharing.map(({ name }) => name)).toContain("AttachedFile");
  for (const { name } of sharing) {
    expect(apollo).toContain(`${name}: { keyFields: false }`);
    expect(urql).toContain(`"${name}"`);
  }
});

test("the documented client receives what was said while its token was renewed", async () => {
  const chat = await newChat(running.api, await newAssistant(running.api));
  const shown: string[] = [];
  let renew = () => {};
  const renewed = new Promise<void>((resolve) => (renew = resolve));
  let issued = 0;
  const freshToken = async () => {
    issued += 1;
    if (issued === 2) await renewed;
    const body = { expiresIn: issued === 1 ? "2s" : "15m" };
    return (await running.api.post("/rest/v1/organization/token", body, 200)).token as string;
  };
  const known = await say(running.api, chat, "known");
  const stop = follow(freshToken, ({ message }) => message && shown.push(message.content))(chat, known);
  await say(running.api, chat, "before");
  await until(() => shown.length === 1);
  await until(() => issued === 2);
  await say(running.api, chat, "meanwhile");
  renew();
  await until(() => shown.length === 2);
  await say(running.api, chat, "after");
  await until(() => shown.length === 3);
  stop();
  expect(shown).toEqual(["before", "meanwhile", "after"]);
});

test("the documented error is what the service answers", async () => {
  const { code } = snippets.find(({ language, code }) => language === "json" && code.includes("requestId"))!;
  const { body } = await running.api.request("POST", "/graphql", {
    query: '{ assistant(id: "unknown") { name } }',
  });
  const documented = JSON.parse(code) as typeof body;
  documented.errors[0].extensions.requestId = body.errors[0].extensions.requestId;
  expect(body).toEqual(documented);
});
