import { expect, test } from "@jest/globals";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { newChat, quietAssistant, say } from "../support/factories";
import { answeredBy } from "../support/sms";
import { afterTest, until } from "../support/server";
import { stubModel } from "../support/stub-model";

const running = useApp({ WORKER: "on" });
/** More turns than one process takes of one organization, at once and from the queue. */
const MANY = 60;
const MESSAGES = "query ($id: ID!) { chat(id: $id) { messages(last: 5) { role content } } }";

async function answered(api: Api, id: string): Promise<boolean> {
  const { chat } = (await api.gql(MESSAGES, { id })) as { chat: { messages: { role: string }[] } };
  return chat.messages.some(({ role }) => role === "ASSISTANT");
}

/** Posts a person's message to so many new chats of a new organization, which a model answers. */
async function ask(model: { readonly url: string }, count: number) {
  const { api } = await running.otherOrganization();
  await answeredBy({ api }, model);
  const assistantId = await quietAssistant(api);
  const chats = await Promise.all(Array.from({ length: count }, () => newChat(api, assistantId)));
  await Promise.all(chats.map((chat) => say(api, chat, "Are you there?", "USER")));
  return { api, chats };
}

test.each([1, 2])(
  "a turn is taken while the models of %i other organizations hang in many turns",
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
    const left = "select from begun_jobs union all select from graphile_worker._private_jobs";
    await until(async () => (await running.database.query(left)).length === 0);
  },
  120_000,
);
