import { expect, test } from "@jest/globals";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { newChat, quietAssistant, say } from "../support/factories";
import { Receiver } from "../support/receiver";
import { answeredBy, connect, newPerson, text } from "../support/sms";
import { afterTest } from "../support/server";
import { until } from "../support/until";
import { stubModel } from "../support/stub-model";

const running = useApp({ WORKER: "on", SMS_ANSWER_SECONDS: "0", WEBHOOK_TIMEOUT_SECONDS: "60" });
/** More turns than one process runs for one organization, immediate and queued together. */
const MANY = 60;
const MESSAGES = "query ($id: ID!) { chat(id: $id) { messages(last: 5) { role content } } }";

async function answered(api: Api, id: string): Promise<boolean> {
  const { chat } = (await api.gql(MESSAGES, { id })) as { chat: { messages: { role: string }[] } };
  return chat.messages.some(({ role }) => role === "ASSISTANT");
}

/** Posts a person's message to this many new chats of a new organization with a model. */
async function ask(model: { readonly url: string }, count: number) {
  const { api } = await running.otherOrganization();
  await answeredBy({ api }, model);
  const assistantId = await quietAssistant(api);
  const chats = await Promise.all(Array.from({ length: count }, () => newChat(api, assistantId)));
  await Promise.all(chats.map((chat) => say(api, chat, "Are you there?", "USER")));
  return { api, chats };
}

test.each([1, 2])(
  "a turn runs while the models of %i other organizations hang in many turns",
  async (organizations) => {
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const hanging = await stubModel({ text: ["At ", "last."], held });
    const model = await stubModel({ text: ["Here I am."] });
    afterTest(async () => {
      await hanging.stop();
      await model.stop();
    });
    for (let made = 0; made < organizations; made++) {
      const before = hanging.asked.length;
      await ask(hanging, MANY);
      await until(() => hanging.asked.length > before);
    }
    const { api, chats } = await ask(model, 1);
    await until(() => answered(api, chats[0]!));
    expect(hanging.asked.length).toBeLessThan(MANY * organizations); // the rest waits for its share
    letGo();
    await until(() => hanging.asked.length === MANY * organizations);
    const left =
      "select from begun_jobs union all select from graphile_worker.jobs where task_identifier = 'chat.turn'";
    await until(async () => (await running.database.query(left)).length === 0);
  },
  120_000,
);

/** A promise, and the function that resolves it. */
function later() {
  let happen = (): void => undefined;
  const promise = new Promise<void>((resolve) => (happen = resolve));
  afterTest(() => happen());
  return { promise, happen };
}

test("a text is sent while the provider hangs for many texts of another organization", async () => {
  const model = await stubModel({ text: ["At 9."] });
  afterTest(model.stop);
  const texts = async (count: number, held?: Promise<void>) => {
    const { api } = await running.otherOrganization();
    await answeredBy({ api }, model);
    const account = await connect({ api }, [await quietAssistant(api)]);
    if (held) running.twilio.held.set(account.accountSid, held);
    const people = Array.from({ length: count }, newPerson);
    await Promise.all(people.map((from) => text(running, account, from, "When do you open?")));
    return { account, people };
  };
  const brought = (sid: string) => running.twilio.brought.get(sid) ?? 0;
  const { promise, happen } = later();
  const { account: hanging, people: waiting } = await texts(MANY, promise);
  await until(() => brought(hanging.accountSid) > 0);
  const { people } = await texts(1);
  await until(() => running.twilio.sentTo(people[0]!).length === 1);
  expect(brought(hanging.accountSid)).toBeLessThan(MANY); // the rest waits for its share
  happen();
  await until(() => waiting.every((from) => running.twilio.sentTo(from).length > 0));
});

test("an event is delivered while many receivers of another organization hang", async () => {
  const { promise, happen } = later();
  const hanging = await new Receiver((res) => void promise.then(() => res.end("ok"))).start();
  const quick = await new Receiver().start();
  afterTest(async () => {
    await hanging.stop();
    await quick.stop();
  });
  const told = async (receiver: Receiver, count: number) => {
    const { api } = await running.otherOrganization();
    for (let made = 0; made < count; made++)
      await api.post("/rest/v1/settings", { url: `${receiver.url}${made}`, secret: "s" }, 201);
    await say(api, await newChat(api, await quietAssistant(api)), "Hello!");
  };
  await told(hanging, MANY);
  await until(() => hanging.received.length > 0);
  await told(quick, 1);
  await quick.until(1);
  expect(hanging.received.length).toBeLessThan(MANY); // the rest waits for its share
  happen();
  await hanging.until(MANY);
});
