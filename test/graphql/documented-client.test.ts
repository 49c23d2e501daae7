import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { WebSocket } from "ws";
import ts from "typescript";
import { useApp } from "../support/app";
import { newAssistant, newChat, say } from "../support/factories";
import { snippetsOf } from "../support/snippets";
import { until } from "../support/until";

const running = useApp();
const snippets = snippetsOf("docs/graphql-clients.md");

interface Shown {
  readonly message: { readonly content: string } | null;
}
type Follow = (chatId: string, last?: string) => () => void;

/** The `follow` of the documentation, for this server. */
function follow(freshToken: () => Promise<string>, show: (event: Shown) => void): Follow {
  const { code } = snippets.find((snippet) => snippet.code.includes("createClient"))!;
  const { outputText } = ts.transpileModule(
    code.replace("ws://127.0.0.1:4000", running.url.replace("http", "ws")),
    {
      compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
    },
  );
  const exported: { follow?: Follow } = {};
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- runs the documented code as written
  new Function("exports", "require", "freshToken", "show", outputText)(exported, require, freshToken, show);
  return exported.follow!;
}

beforeAll(() => void Object.assign(globalThis, { WebSocket }));
afterAll(() => void Reflect.deleteProperty(globalThis, "WebSocket"));

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
