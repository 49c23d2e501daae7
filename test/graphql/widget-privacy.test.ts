import { createHmac } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { newId } from "../../src/platform/database/values/ids";
import { useApp } from "../support/app";
import { forget } from "../support/erasures";
import { withoutId } from "../support/errors";
import { newAssistant, newChat, quietAssistant, say } from "../support/factories";
import { until } from "../support/until";
import { stubModel } from "../support/stub-model";
import { sessionRefused, startSession, VisitorClient } from "../support/visitor";

const running = useApp({ WORKER: "on" });
const open: VisitorClient[] = [];
afterEach(async () => {
  for (const visitor of open.splice(0)) await visitor.close();
});

/** Starts a session. @returns it and its visitor */
async function visit(input: object) {
  const session = await startSession(running.url, running.publicKey, input);
  const visitor = new VisitorClient(running.url, session.token);
  open.push(visitor);
  return { ...session, visitor };
}
async function signatureOf(uniqueId: string): Promise<string> {
  const { identitySecret } = await running.api.gql("mutation { identitySecret }");
  return createHmac("sha256", identitySecret).update(uniqueId).digest("hex");
}
const signed = async (uniqueId: string) => ({ uniqueId, uniqueIdSignature: await signatureOf(uniqueId) });
const requireSigned = (on: boolean) =>
  running.api.gql(
    "mutation ($on: Boolean) { updateOrganization(input: { requireSignedIdentity: $on }) { id } }",
    { on },
  );
const page = () => running.api.as({ "X-API-Key": running.publicKey });
const ids = (chats: readonly { id: string }[]) => chats.map(({ id }) => id);

let people = 0;
const person = () => `person-${++people}`;

/** Answers of all operations that name a chat. */
async function refusals(visitor: VisitorClient, chatId: string): Promise<unknown[]> {
  const asked = [
    ["query ($id: ID!) { widgetChat(id: $id) { id } }", { id: chatId }],
    ["mutation ($id: ID!) { endWidgetChat(id: $id) { id } }", { id: chatId }],
    [
      "mutation ($i: WidgetMessageInput!) { postWidgetMessage(input: $i) { id } }",
      { i: { chatId, content: "x", clientId: "m" } },
    ],
    [
      "mutation ($i: WidgetChatUpdate!) { updateWidgetChat(input: $i) { id } }",
      { i: { chatId, variables: {} } },
    ],
  ] as const;
  const answers: unknown[] = [];
  for (const [document, variables] of asked) {
    const { extensions, ...error } = await visitor.api.gqlError(document, { ...variables });
    answers.push({ ...error, code: extensions.code });
  }
  answers.push(await visitor.events(chatId, "0").catch((error: Error) => error.message));
  return answers;
}

test("another visitor's chat looks exactly like one that does not exist", async () => {
  const assistantId = await quietAssistant(running.api);
  const uniqueId = person();
  const { visitor: other } = await visit({ assistantId, uniqueId });
  const theirs = (await other.start()).id;
  const byKey = await newChat(running.api, assistantId, { uniqueId });
  for (const input of [{ assistantId }, { assistantId, uniqueId }]) {
    const { visitor } = await visit(input);
    const noId = newId();
    const unknown = await refusals(visitor, noId);
    expect(unknown[0]).toMatchObject({ code: "CHAT_NOT_FOUND" });
    for (const chat of [theirs, byKey])
      expect(withoutId(await refusals(visitor, chat), chat)).toEqual(withoutId(unknown, noId));
    expect(await visitor.chats()).toEqual([]);
  }
  expect(await other.chat(theirs)).toMatchObject({ status: "in-progress", messages: [] });
});

describe("earlier chats", () => {
  test("are shown to the same browser and to no other", async () => {
    const assistantId = await quietAssistant(running.api);
    const first = await visit({ assistantId });
    expect(first.historyAvailable).toBe(false);
    const { id } = await first.visitor.start();
    const again = await visit({ assistantId, visitorToken: first.visitorToken });
    expect(again.historyAvailable).toBe(true);
    expect(ids(await again.visitor.chats())).toEqual([id]);
    expect(await again.visitor.post(id, "still here")).toMatchObject({ content: "still here" });
    const third = await visit({ assistantId, visitorToken: again.visitorToken });
    expect(ids(await third.visitor.chats())).toEqual([id]);
    const elsewhere = await visit({ assistantId });
    expect(await elsewhere.visitor.chats()).toEqual([]);
  });

  test("are hidden with a token of another assistant, a forged or an invalid token: the visitor counts as new", async () => {
    const assistantId = await quietAssistant(running.api);
    const { visitorToken, visitor, token } = await visit({ assistantId });
    const { id } = await visitor.start();
    const other = await visit({ assistantId: await quietAssistant(running.api), visitorToken });
    expect([other.historyAvailable, await other.visitor.chats()]).toEqual([false, []]);
    for (const wrong of [other.visitorToken, token, "nonsense", `${visitorToken.slice(0, -6)}xxxxxx`]) {
      const made = await visit({ assistantId, visitorToken: wrong });
      expect([made.historyAvailable, await made.visitor.chats()]).toEqual([false, []]);
      expect(
        (await made.visitor.api.graphql(`{ widgetChat(id: "${id}") { id } }`)).body.data.widgetChat,
      ).toBeNull();
    }
  });

  test("of a signed-in person are shown only while they are signed in, even in the same browser", async () => {
    const assistantId = await quietAssistant(running.api);
    const [ada, bea] = [person(), person()];
    const anonymous = await visit({ assistantId });
    const { visitorToken } = anonymous;
    const before = (await anonymous.visitor.start()).id;
    const asAda = await visit({ assistantId, visitorToken, uniqueId: ada });
    const adas = (await asAda.visitor.start()).id;
    expect(ids(await asAda.visitor.chats())).toEqual([adas]);
    const asBea = await visit({ assistantId, visitorToken, uniqueId: bea });
    expect(await asBea.visitor.chats()).toEqual([]);
    const out = await visit({ assistantId, visitorToken });
    expect(ids(await out.visitor.chats())).toEqual([before]);
    const back = await visit({ assistantId, visitorToken, uniqueId: ada });
    expect(ids(await back.visitor.chats())).toEqual([adas]);
  });

  test("of a signed uniqueId are shown in every browser, except those started without the signature", async () => {
    const assistantId = await quietAssistant(running.api);
    const uniqueId = person();
    const pretender = await visit({ assistantId, uniqueId });
    await pretender.visitor.start();
    const known = await signed(uniqueId);
    const one = await visit({ assistantId, ...known });
    expect(one.historyAvailable).toBe(true);
    expect(await one.visitor.chats()).toEqual([]);
    const { id } = await one.visitor.start();
    const elsewhere = await visit({ assistantId, ...known });
    expect(ids(await elsewhere.visitor.chats())).toEqual([id]);
    const unsigned = await visit({ assistantId, uniqueId });
    expect(await unsigned.visitor.chats()).toEqual([]);
    const other = await visit({ assistantId: await quietAssistant(running.api), ...known });
    expect(await other.visitor.chats()).toEqual([]);
  });

  test("are limited to the 20 newest", async () => {
    const { visitor } = await visit({ assistantId: await quietAssistant(running.api) });
    const made: string[] = [];
    for (let count = 0; count < 22; count++) made.unshift((await visitor.start()).id);
    expect(ids(await visitor.chats())).toEqual(made.slice(0, 20));
  });

  test("are hidden once the person has been forgotten", async () => {
    const assistantId = await quietAssistant(running.api);
    const uniqueId = person();
    const known = await signed(uniqueId);
    const { visitor, visitorToken } = await visit({ assistantId, ...known });
    await visitor.start();
    await forget(running, { uniqueId });
    expect(await visitor.chats()).toEqual([]);
    for (const input of [{ ...known }, { uniqueId }, {}])
      expect(await (await visit({ assistantId, visitorToken, ...input })).visitor.chats()).toEqual([]);
  });
});

describe("a uniqueId", () => {
  test("of 30 or more characters is refused by name", async () => {
    const assistantId = await quietAssistant(running.api);
    for (const uniqueId of ["x".repeat(30), "", null])
      expect((await sessionRefused(page(), { assistantId, uniqueId })).extensions).toMatchObject({
        code: "BAD_USER_INPUT",
        details: [{ path: "input.uniqueId" }],
      });
    await visit({ assistantId, uniqueId: "x".repeat(29) });
  });

  test("with a wrong signature is refused", async () => {
    const assistantId = await quietAssistant(running.api);
    const uniqueIdSignature = await signatureOf("somebody else");
    const error = await sessionRefused(page(), { assistantId, uniqueId: person(), uniqueIdSignature });
    expect(error.extensions.code).toBe("FORBIDDEN");
  });

  test("must be signed if the organization requires it, even in a session that started before", async () => {
    const assistantId = await quietAssistant(running.api);
    const uniqueId = person();
    const early = await visit({ assistantId, uniqueId });
    await requireSigned(true);
    expect((await sessionRefused(page(), { assistantId, uniqueId })).extensions.code).toBe("FORBIDDEN");
    for (const channel of ["TEXT", "VOICE"]) {
      const START = `mutation { startWidgetChat(input: { channel: ${channel} }) { id } }`;
      expect((await early.visitor.api.gqlError(START)).extensions.code).toBe("FORBIDDEN");
    }
    await (await visit({ assistantId, ...(await signed(uniqueId)) })).visitor.start();
    await (await visit({ assistantId })).visitor.start();
    await requireSigned(false);
  });
});

describe("the prompt of a visitor", () => {
  let model: Awaited<ReturnType<typeof stubModel>>;
  const CREDENTIAL =
    "mutation ($input: ModelCredentialInput!) { setModelCredential(input: $input) { provider } }";
  beforeAll(async () => {
    model = await stubModel(
      { call: "remember_fact", arguments: '{"fact":"Likes trains."}' },
      { text: ["Noted."] },
    );
    await running.api.gql(CREDENTIAL, { input: { provider: "OPENAI", apiKey: "k", baseUrl: model.url } });
  });
  afterAll(() => model.stop());

  /** Prompt that the model receives for a message. */
  async function toldOn(visitor: VisitorClient, text: string): Promise<string> {
    const { id } = await visitor.start();
    await visitor.post(id, text);
    await until(async () => (await visitor.chat(id)).messages.some(({ role }) => role === "ASSISTANT"));
    await visitor.end(id);
    return model.asked.at(-1)!.messages[0]!.content as string;
  }

  test("contains the facts, and earlier conversations only if the person or the browser is the same", async () => {
    const assistantId = await quietAssistant(running.api);
    const uniqueId = person();
    const ada = await visit({ assistantId, uniqueId });
    await toldOn(ada.visitor, "My secret is 4711.");
    const again = await visit({ assistantId, uniqueId, visitorToken: ada.visitorToken });
    const same = await toldOn(again.visitor, "And 4712.");
    expect(same).toContain("Likes trains.");
    expect(same).toContain("4711");
    const guess = await visit({ assistantId, uniqueId });
    const guessed = await toldOn(guess.visitor, "Who am I?");
    expect(guessed).toContain("Likes trains.");
    expect(guessed).not.toMatch(/471[12]|conversation ended/);
    const proven = await visit({ assistantId, ...(await signed(uniqueId)) });
    await toldOn(proven.visitor, "My other secret is 4713.");
    const elsewhere = await visit({ assistantId, ...(await signed(uniqueId)) });
    expect(await toldOn(elsewhere.visitor, "What did I say?")).toContain("4713");
    const second = await visit({ assistantId, uniqueId });
    expect(await toldOn(second.visitor, "What did I say?")).not.toContain("4713");
  });

  test("contains no unsigned words in a chat that the organization starts", async () => {
    const assistantId = await newAssistant(running.api);
    const uniqueId = person();
    const unsigned = await visit({ assistantId, uniqueId });
    await toldOn(unsigned.visitor, "My secret is 4714.");
    const proven = await visit({ assistantId, ...(await signed(uniqueId)) });
    await toldOn(proven.visitor, "My secret is 4715.");
    const chat = await newChat(running.api, assistantId, { uniqueId });
    const asked = model.asked.length;
    await say(running.api, chat, "Hello", "USER");
    await until(() => model.asked.length > asked);
    const told = model.asked.at(-1)!.messages[0]!.content;
    expect(told).toContain("4715");
    expect(told).not.toContain("4714");
  });
});
