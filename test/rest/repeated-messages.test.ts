import { afterEach, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newChat, quietAssistant } from "../support/factories";
import { stubModel } from "../support/stub-model";
import { until } from "../support/until";

const running = useApp({ WORKER: "on", OUTBOUND_ALLOW: "127.0.0.0/8" });
const KEY = { "Idempotency-Key": "message" };
const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
  await running.database.query("delete from idempotency_keys");
});

/** A chat whose assistant answers as soon as it may. */
async function slowChat() {
  let answer = () => {};
  const held = new Promise<void>((resolve) => (answer = resolve));
  const model = await stubModel({ text: ["Here ", "I am."], held });
  ended.push(answer, model.stop);
  const set = `mutation ($input: ModelCredentialInput!) { setModelCredential(input: $input) { provider } }`;
  await running.api.gql(set, { input: { provider: "OPENAI", apiKey: "sk-test-1234", baseUrl: model.url } });
  const chatId = await newChat(running.api, await quietAssistant(running.api));
  return { chatId, answer, isAsked: () => model.asked.length > 0 };
}

const send = (aiChatId: string, content = "Anybody there?") =>
  running.api.request(
    "POST",
    "/rest/v1/ai-chats/messages?wait=true",
    { aiChatId, role: "USER", channel: "TEXT", content, metadata: {} },
    KEY,
  );
const messagesOf = async (chatId: string) =>
  (await running.api.get(`/rest/v1/ai-chats/${chatId}`, 200)).messages as unknown[];
/** Makes the claim of the key look as old. */
const age = (seconds: number) =>
  running.database.query("update idempotency_claims set claimed_at = now() - make_interval(secs => $1)", [
    seconds,
  ]);
/** The claim, with what would follow it in a server that crashes now. */
const claim = async () =>
  (
    await running.database.query<{ key: string; claim: string; request_hash: string; blocks: boolean }>(
      "select *, claimed_at > now() - interval '80 seconds' as blocks from idempotency_claims",
    )
  )[0]!;

test("a request keeps its key while it runs, and its repetition after a crash waits for the answer to the same message", async () => {
  const { chatId, answer, isAsked } = await slowChat();
  const first = send(chatId);
  await until(isAsked);
  await age(85);
  await until(async () => (await claim()).blocks);
  expect((await send(chatId)).status).toBe(409);
  await age(91);
  expect((await send(chatId, "Something else")).status).toBe(422);
  await age(91);
  const second = send(chatId);
  await until(async () => (await claim()).blocks);
  answer();
  const [one, two] = await Promise.all([first, second]);
  expect(one).toMatchObject({ status: 201, body: { reply: { content: "Here I am." } } });
  expect(two).toMatchObject({ status: 201, body: one.body });
  expect(await messagesOf(chatId)).toHaveLength(2);
});

test("the repetition of a message that was answered after its server crashed gets the answer, even if the chat has ended", async () => {
  const { chatId, answer, isAsked } = await slowChat();
  const lost = send(chatId);
  await until(isAsked);
  const { key, claim: id, request_hash } = await claim();
  answer();
  const { body } = await lost;
  await running.database.query("delete from idempotency_keys");
  await running.database.query(
    `insert into idempotency_claims (organization_id, key, claim, request_hash, claimed_at)
     select id, $1, $2, $3, now() - interval '91 seconds' from organizations`,
    [key, id, request_hash],
  );
  await running.api.post(`/rest/v1/ai-chats/${chatId}/end`, {}, 200);
  const again = await send(chatId);
  expect(again).toMatchObject({ status: 201, body });
  expect(again.headers.get("idempotency-replayed")).toBeNull();
  expect(await messagesOf(chatId)).toHaveLength(2);
  expect((await send(chatId)).headers.get("idempotency-replayed")).toBe("true");
});
